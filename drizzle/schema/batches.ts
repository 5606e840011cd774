import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, createdAt, instant } from './columns.ts'

/**
 * Files that belong together. The id is derived from the fields that identify a batch: the Pipe, the Sender, the
 * subject, the name, and whether a token or the uploader chose the name. So creating the first file inserts the row
 * without a look-up.
 */
export const batches = pgTable(
  'batches',
  {
    id: uuid().primaryKey(),
    workspaceId: belongsTo(() => workspaces.id),
    pipeId: text().notNull(),
    senderId: uuid().notNull(),
    subject: text(),
    name: text().notNull(),
    /**
     * True if a token named the batch; otherwise, the uploader did. Uploaders cannot add files to a batch named by a
     * token.
     */
    byToken: boolean().notNull(),
    /** Set once the batch accepts no more files. */
    sealedAt: instant(),
    /** Set once all files in the batch have ended and its event has been written. */
    completedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index('batches_to_complete')
      .on(t.sealedAt)
      .where(sql`${t.sealedAt} is not null and ${t.completedAt} is null`),
    index().on(t.workspaceId),
  ],
)
