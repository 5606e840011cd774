import { sql } from 'drizzle-orm'
import { boolean, index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, createdAt, id, instant } from './columns.ts'

export type ProviderName =
  | 'aws'
  | 'r2'
  | 'b2'
  | 'wasabi'
  | 'spaces'
  | 'gcs'
  | 'scaleway'
  | 'hetzner'
  | 'ovh'
  | 'oracle'
  | 'alibaba'
  | 'minio'
  | 'azure'
  | 'other'

/** The findings of the last bucket check. */
export type BucketCheck = {
  checkedAt: string
  ok: boolean
  operations: { name: string; ok: boolean; message: string }[]
  /** The minimal policy to paste, and a lifecycle rule if the credentials do not allow aborting uploads. */
  policy?: string
  lifecycleRule?: string
}

/** The capabilities found by the check that differ from those assumed for the provider. */
export type FoundCapabilities = {
  bodyChecksum?: 'crc32' | 'md5' | null
  fullObjectCrc32?: boolean
  ifNoneMatch?: boolean
  ifNoneMatchOnComplete?: boolean
  copyParts?: boolean
}

export const dataStores = pgTable(
  'data_stores',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    name: text().notNull(),
    provider: text().$type<ProviderName>().notNull(),
    endpoint: text().notNull(),
    region: text().notNull(),
    bucket: text().notNull(),
    prefix: text().notNull().default(''),
    forcePathStyle: boolean().notNull(),
    accessKeyIdEncrypted: text().notNull(),
    secretAccessKeyEncrypted: text().notNull(),
    storageClass: text(),
    encryption: jsonb().$type<{ type: 'SSE-S3' } | { type: 'SSE-KMS'; keyId: string }>(),
    check: jsonb().$type<BucketCheck>(),
    /**
     * Set while the bucket rejects uploads: the time of the first rejection, and the last recorded error with its time.
     */
    rejectingSince: instant(),
    rejection: text(),
    rejectedAt: instant(),
    /** When to check again whether the bucket accepts uploads. */
    recheckAt: instant(),
    /** Which optional permissions the check found. Sluice uses them, but does not require them. */
    mayAbort: boolean().notNull().default(false),
    mayRead: boolean().notNull().default(false),
    mayDelete: boolean().notNull().default(false),
    found: jsonb().$type<FoundCapabilities>(),
    /** When a check of this location first succeeded. Until then, the Data Store accepts no uploads. */
    readyAt: instant(),
    /**
     * Set while the Data Store accepts no uploads because its creator's account was taken over by the owner of its
     * email address.
     */
    turnedOffAt: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
    /** The row of a deleted Data Store is kept because files refer to it, but its credentials are erased. */
    deletedAt: instant(),
  },
  (t) => [
    index().on(t.workspaceId, t.id),
    index('data_stores_rejecting').on(t.recheckAt).where(sql`${t.rejectingSince} is not null`),
    index('data_stores_turned_off').on(t.id).where(sql`${t.turnedOffAt} is not null`),
  ],
)
