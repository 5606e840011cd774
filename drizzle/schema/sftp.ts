import { customType, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { createdAt, instant } from './columns.ts'
import { files } from './files.ts'

/** Sorts by its bytes, so that a directory can be read page by page whatever the collation of the database is. */
const byteText = customType<{ data: string }>({ dataType: () => 'text collate "C"' })

/** The key by which clients recognize this installation: the same on all nodes. */
export const sftpHostKeys = pgTable('sftp_host_keys', {
  id: text().primaryKey(),
  /** The private key in the format of OpenSSH. */
  sealed: text().notNull(),
  /** As in known_hosts. */
  publicKey: text().notNull(),
  createdAt: createdAt(),
})

/** Where a file is in the directory of its Sender and subject. Of several at one path, the newest counts. */
export const sftpEntries = pgTable(
  'sftp_entries',
  {
    fileId: uuid()
      .primaryKey()
      .references(() => files.id, { onDelete: 'cascade' }),
    pipeId: text().notNull(),
    senderId: uuid().notNull(),
    subject: text(),
    /** Without a slash at either end; empty for the root. */
    folder: byteText().notNull(),
    name: byteText().notNull(),
    /** As the client set it. */
    modifiedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index('sftp_entries_by_path').on(t.pipeId, t.senderId, t.subject, t.folder, t.name, t.fileId),
    index('sftp_entries_by_age').on(t.createdAt),
  ],
)
