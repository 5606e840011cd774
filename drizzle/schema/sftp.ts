import { customType, index, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core'
import { belongsTo, createdAt, id, instant } from './columns.ts'
import { files } from './files.ts'
import { senders } from './senders.ts'

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

/** Public keys that can upload for a Sender, by SFTP. One key belongs to one Sender of a workspace. */
export const senderKeys = pgTable(
  'sender_keys',
  {
    id: id(),
    /** That of the Sender. */
    workspaceId: uuid().notNull(),
    senderId: belongsTo(() => senders.id),
    name: text().notNull(),
    algorithm: text().notNull(),
    /** In base64, as in authorized_keys. */
    publicKey: text().notNull(),
    fingerprint: text().notNull(),
    /** Of the uploads, as in a token. */
    subject: text(),
    lastUsedAt: instant(),
    lastAddress: text(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.workspaceId, t.fingerprint), index().on(t.senderId, t.id)],
)
