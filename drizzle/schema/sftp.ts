import { customType, index, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core'
import { belongsTo, createdAt, id, instant } from './columns.ts'
import { files } from './files.ts'
import { senders } from './senders.ts'

/** Text that sorts by bytes, so that a directory can be read page by page regardless of the database's collation. */
const byteText = customType<{ data: string }>({ dataType: () => 'text collate "C"' })

/** The key by which clients recognize this server, which is the same on all nodes. */
export const sftpHostKeys = pgTable('sftp_host_keys', {
  id: text().primaryKey(),
  /** The private key in OpenSSH format. */
  sealed: text().notNull(),
  /** The public key in the format of known_hosts. */
  publicKey: text().notNull(),
  createdAt: createdAt(),
})

/** A file's path in the directory of its Sender and subject. If several files share a path, it refers to the newest. */
export const sftpEntries = pgTable(
  'sftp_entries',
  {
    fileId: uuid()
      .primaryKey()
      .references(() => files.id, { onDelete: 'cascade' }),
    pipeId: text().notNull(),
    senderId: uuid().notNull(),
    subject: text(),
    /** The folder without a slash at either end; empty for the root. */
    folder: byteText().notNull(),
    name: byteText().notNull(),
    /** The modification time set by the client. */
    modifiedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index('sftp_entries_by_path').on(t.pipeId, t.senderId, t.subject, t.folder, t.name, t.fileId),
    index('sftp_entries_by_age').on(t.createdAt),
  ],
)

/** Public keys that can upload by SFTP on behalf of a Sender. Within a workspace, a key belongs to a single Sender. */
export const senderKeys = pgTable(
  'sender_keys',
  {
    id: id(),
    /** The Sender's workspace. */
    workspaceId: uuid().notNull(),
    senderId: belongsTo(() => senders.id),
    name: text().notNull(),
    algorithm: text().notNull(),
    /** The key in base64, in the format of authorized_keys. */
    publicKey: text().notNull(),
    fingerprint: text().notNull(),
    /** The subject of uploads with this key, like the subject of a token. */
    subject: text(),
    lastUsedAt: instant(),
    lastAddress: text(),
    /**
     * The most recently added addresses from which the key was used. A use from any other address is written to the
     * audit log, and that address is added here.
     */
    addresses: text().array().notNull().default([]),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.workspaceId, t.fingerprint), index().on(t.senderId, t.id)],
)
