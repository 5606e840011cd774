import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { belongsTo, createdAt, id, instant } from './columns.ts'
import { files } from './files.ts'
import { pipes } from './pipes.ts'

/** When the customer's backend is asked: before an upload starts, and before its object is created. */
export const HOOKS = ['before_create', 'before_complete'] as const
export type Hook = (typeof HOOKS)[number]

/** What happens if the receiver does not respond. */
export const WITHOUT_ANSWER = ['refuse', 'allow'] as const

/** A Pipe's decision hooks, at most one of each kind. */
export const pipeHooks = pgTable(
  'pipe_hooks',
  {
    id: id(),
    workspaceId: uuid().notNull(),
    pipeId: text()
      .notNull()
      .references(() => pipes.id, { onDelete: 'cascade' }),
    hook: text({ enum: HOOKS }).notNull(),
    enabled: boolean().notNull(),
    url: text().notNull(),
    timeoutSeconds: integer().notNull(),
    withoutAnswer: text({ enum: WITHOUT_ANSWER }).notNull(),
    secretEncrypted: text().notNull(),
    /** The previous secret, which also signs for 24 hours after a rotation. */
    previousSecretEncrypted: text(),
    previousSecretUntil: instant(),
    /** When the current series of unanswered requests started, and the error of the latest one. */
    failingSince: instant(),
    fault: text(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [unique().on(t.pipeId, t.hook), index().on(t.workspaceId)],
)

export const VERDICTS = ['allowed', 'rejected', 'deferred'] as const
/**
 * Where the decision came from: the receiver, an API call, a person in the dashboard, the hook's setting for a receiver
 * that does not respond, or the deadline of a deferral.
 */
export const DECIDED_BY = ['receiver', 'api', 'dashboard', 'default', 'time'] as const

/** The decisions on files, one per file and hook. Only a `deferred` decision can be replaced, and only once. */
export const fileDecisions = pgTable(
  'file_decisions',
  {
    fileId: belongsTo(() => files.id),
    hook: text({ enum: HOOKS }).notNull(),
    state: text({ enum: VERDICTS }).notNull(),
    decidedBy: text({ enum: DECIDED_BY }).notNull(),
    /** Why the file was rejected, as shown to the uploader. */
    reason: text(),
    /** The result returned to the uploader. */
    result: jsonb().$type<unknown>(),
    decidedAt: instant().notNull(),
    /** A deferred file is rejected if nobody has decided by this time. */
    deferredUntil: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.fileId, t.hook] }),
    index('file_decisions_deferred').on(t.deferredUntil).where(sql`${t.state} = 'deferred'`),
  ],
)
