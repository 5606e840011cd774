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
  'copies_missing',
  'token_unused',
  'sender_silent',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/**
 * Problems that an owner should know about, from detection to resolution. A subject has at most one open alert of each
 * kind.
 */
export const alerts = pgTable(
  'alerts',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    kind: text({ enum: ALERT_KINDS }).notNull(),
    /** A month, or the id of a Data Store, a Pipe (for its first output), a further output, or a Sender. */
    subjectId: text().notNull(),
    /** The subject's name when the alert was raised. */
    subject: text().notNull(),
    detail: text(),
    raisedAt: instant().notNull(),
    clearedAt: instant(),
    /** The last event that was sent about the alert. */
    sent: text({ enum: ['nothing', 'raised', 'cleared'] })
      .notNull()
      .default('nothing'),
  },
  (t) => [
    uniqueIndex('alerts_one_open').on(t.workspaceId, t.kind, t.subjectId).where(sql`${t.clearedAt} is null`),
  ],
)
