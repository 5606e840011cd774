import { sql } from 'drizzle-orm'
import { pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, id, instant } from './columns.ts'

export const ALERT_KINDS = [
  'quota_80',
  'quota_100',
  'bucket_rejects',
  'output_off',
  'output_failing',
  'hook_failing',
  'token_unused',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** What an owner should know of, from when it was found until it is over: at most one that is open for each subject. */
export const alerts = pgTable(
  'alerts',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    kind: text({ enum: ALERT_KINDS }).notNull(),
    /** A month, or the id of a Data Store, Pipe (of its first output), output or Sender. */
    subjectId: text().notNull(),
    /** Its name at that time. */
    subject: text().notNull(),
    detail: text(),
    raisedAt: instant().notNull(),
    clearedAt: instant(),
    /** What of it was sent as an event. */
    sent: text({ enum: ['nothing', 'raised', 'cleared'] })
      .notNull()
      .default('nothing'),
  },
  (t) => [
    uniqueIndex('alerts_one_open').on(t.workspaceId, t.kind, t.subjectId).where(sql`${t.clearedAt} is null`),
  ],
)
