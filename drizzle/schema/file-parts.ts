import { integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { belongsTo, bytea, bytes } from './columns.ts'
import { files } from './files.ts'

/** Parts that the bucket has acknowledged. They are only recorded in order. */
export const fileParts = pgTable(
  'file_parts',
  {
    fileId: belongsTo(() => files.id),
    number: integer().notNull(),
    offsetBytes: bytes().notNull(),
    sizeBytes: bytes().notNull(),
    /** The ETag at each destination, by position. Null where a best-effort destination has not acknowledged the part. */
    etags: text().array().notNull(),
    crc32: bytes().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fileId, t.number] })],
)

/**
 * Parts of an object being copied to a destination that is missing it. They are deleted when the copy is complete.
 */
export const repairedParts = pgTable(
  'repaired_parts',
  {
    fileId: belongsTo(() => files.id),
    dataStoreId: uuid().notNull(),
    number: integer().notNull(),
    sizeBytes: bytes().notNull(),
    etag: text().notNull(),
    crc32: bytes().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fileId, t.dataStoreId, t.number] })],
)

/** Confirmed bytes after the last part, each written once. They become the start of the next part. */
export const uploadTails = pgTable(
  'upload_tails',
  {
    fileId: belongsTo(() => files.id),
    offsetBytes: bytes().notNull(),
    /** The row's data key, wrapped with ENCRYPTION_KEY. Always set. */
    key: text(),
    /** A 12-byte nonce, the ciphertext, and a 16-byte tag. */
    bytes: bytea().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fileId, t.offsetBytes] })],
)
