import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, createdAt, instant } from './columns.ts'

/**
 * Files that belong together. The id follows from what makes a batch one: the Pipe, the Sender, the subject, the name and who gave
 * that. So whoever creates its first file makes the row, and nobody looks for it before.
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
    /** A token named it. Otherwise the uploader did, who cannot add files to one that a token names. */
    byToken: boolean().notNull(),
    /** It takes no more files. */
    sealedAt: instant(),
    /** All its files have ended, and its event was written. */
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
