import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytes, createdAt, id, instant } from './columns.ts'

/** Links by which people without an account upload to a Pipe, each in the name of a Sender of its own. */
export const uploadLinks = pgTable(
  'upload_links',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    pipeId: text().notNull(),
    senderId: uuid().notNull().unique(),
    codeHash: text().notNull().unique(),
    title: text().notNull(),
    message: text().notNull(),
    passwordHash: text(),
    expiresAt: instant(),
    closedAt: instant(),
    /** Of all uploads that were created through it, whatever became of them. */
    maxFiles: integer(),
    maxBytes: bytes(),
    filesCreated: integer().notNull().default(0),
    bytesCreated: bytes().notNull().default(0),
    allowedTypes: text().array().notNull().default([]),
    createdAt: createdAt(),
    /** The row stays, since its Sender is that of files. */
    deletedAt: instant(),
  },
  (t) => [index().on(t.workspaceId), index().on(t.pipeId, t.id)],
)
