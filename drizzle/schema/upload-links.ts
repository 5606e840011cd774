import { boolean, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytes, createdAt, id, instant } from './columns.ts'

/** Links that let people without an account upload to a Pipe, each with its own Sender. */
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
    /** The maximum number and total size of all uploads created through the link, whatever their outcome. */
    maxFiles: integer(),
    maxBytes: bytes(),
    filesCreated: integer().notNull().default(0),
    bytesCreated: bytes().notNull().default(0),
    allowedTypes: text().array().notNull().default([]),
    /** The member to whom an email is sent when files have arrived. */
    notifyEmail: text(),
    /** Whether visitors can have a receipt sent to them. */
    receipts: boolean().notNull().default(false),
    createdAt: createdAt(),
    /** The row is kept, because files refer to its Sender. */
    deletedAt: instant(),
  },
  (t) => [index().on(t.workspaceId), index().on(t.pipeId, t.id)],
)
