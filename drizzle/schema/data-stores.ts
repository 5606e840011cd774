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
  | 'other'

/** The findings of the last bucket check. */
export type BucketCheck = {
  checkedAt: string
  ok: boolean
  operations: { name: string; ok: boolean; message: string }[]
  /** The minimal policy to paste, and the lifecycle rule if the keys do not allow aborting. */
  policy?: string
  lifecycleRule?: string
}

/** The capabilities the check found, which may differ from what is known about the provider. */
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
    /** Set while the bucket rejects uploads: since when, and its last error. */
    rejectingSince: instant(),
    rejection: text(),
    rejectedAt: instant(),
    /** When the check looks again whether it accepts them. */
    recheckAt: instant(),
    /** Found by the check; used if present, but never required. */
    mayAbort: boolean().notNull().default(false),
    mayRead: boolean().notNull().default(false),
    mayDelete: boolean().notNull().default(false),
    found: jsonb().$type<FoundCapabilities>(),
    /** When a check of this location first succeeded: until then it accepts no uploads. */
    readyAt: instant(),
    /** Set while it accepts no uploads at all: its creator lost the account. */
    turnedOffAt: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
    /** Files remember their Data Store; its keys are erased when it is deleted. */
    deletedAt: instant(),
  },
  (t) => [
    index().on(t.workspaceId, t.id),
    index('data_stores_rejecting').on(t.recheckAt).where(sql`${t.rejectingSince} is not null`),
    index('data_stores_turned_off').on(t.id).where(sql`${t.turnedOffAt} is not null`),
  ],
)
