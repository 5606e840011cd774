import { sql } from 'drizzle-orm'
import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, createdAt, instant } from './columns.ts'
import { files } from './files.ts'

/** A file's source URL, and the progress of fetching it. Its bytes and its status are in `files`. */
export const imports = pgTable(
  'imports',
  {
    fileId: uuid()
      .primaryKey()
      .references(() => files.id, { onDelete: 'cascade' }),
    workspaceId: uuid().notNull(),
    /** The URL without its query, which is often secret. */
    shownUrl: text().notNull(),
    /** The URL, the request headers, and the upload token that created the file. */
    sealed: text().notNull(),
    /** The file's expected SHA-256, in hexadecimal. */
    sha256: text(),
    /** Progress of the SHA-256: `hashState` covers the first `hashedBytes` bytes. */
    hashedBytes: bytes().notNull().default(0),
    hashState: text(),
    /** A validator for the version being fetched, for If-Range. */
    validator: text(),
    /** The number of consecutive attempts that fetched no new bytes, and the time of the first one. */
    failures: integer().notNull().default(0),
    failingSince: instant(),
    lastError: text(),
    /** When the next attempt to fetch the file is due; null once nothing more is needed from the source. */
    dueAt: instant(),
    /** The claim of the worker that is fetching the file, and when the claim expires. */
    claim: uuid(),
    claimedUntil: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index('imports_due').on(t.workspaceId, t.dueAt, t.fileId).where(sql`${t.dueAt} is not null`),
    index('imports_claimed').on(t.workspaceId).where(sql`${t.claimedUntil} is not null`),
  ],
)
