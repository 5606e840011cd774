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

/** What the last check of a bucket found. */
export type BucketCheck = {
  checkedAt: string
  ok: boolean
  operations: { name: string; ok: boolean; message: string }[]
  /** The least policy to paste, and the lifecycle rule where the keys may not abort. */
  policy?: string
  lifecycleRule?: string
}

/** What the check found this bucket to take, where that may differ from what is known of its provider. */
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
    /** Set while uploads find that the bucket does not take them: since when, and what it said last. */
    rejectingSince: instant(),
    rejection: text(),
    rejectedAt: instant(),
    /** When the check looks whether it takes them again. */
    recheckAt: instant(),
    /** Found by the check; what they allow is made use of and never needed. */
    mayAbort: boolean().notNull().default(false),
    mayRead: boolean().notNull().default(false),
    mayDelete: boolean().notNull().default(false),
    found: jsonb().$type<FoundCapabilities>(),
    /** When a check first succeeded at this place: until then it takes no uploads. */
    readyAt: instant(),
    /** While it takes no uploads at all: whoever made it was turned out of the account. */
    turnedOffAt: instant(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
    /** Files remember their Data Store; its keys are wiped when it goes. */
    deletedAt: instant(),
  },
  (t) => [
    index().on(t.workspaceId, t.id),
    index('data_stores_rejecting').on(t.recheckAt).where(sql`${t.rejectingSince} is not null`),
    index('data_stores_turned_off').on(t.id).where(sql`${t.turnedOffAt} is not null`),
  ],
)
