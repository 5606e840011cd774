import { sql } from 'drizzle-orm'
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core'
import { belongsTo, createdAt, id, instant } from './columns.ts'
import { files } from './files.ts'
import { pipes } from './pipes.ts'

/** When the customer's backend is asked: before an upload begins, and before its object is made. */
export const HOOKS = ['before_create', 'before_complete'] as const
export type Hook = (typeof HOOKS)[number]

/** What happens when the receiver does not answer. */
export const WITHOUT_ANSWER = ['refuse', 'allow'] as const

/** The decision hooks of a Pipe, at most one of each kind. */
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
    /** Signs beside the new one for 24 hours after a rotation. */
    previousSecretEncrypted: text(),
    previousSecretUntil: instant(),
    /** The first of an unbroken run of questions without an answer, and what was wrong with the last one. */
    failingSince: instant(),
    fault: text(),
    createdAt: createdAt(),
    updatedAt: instant().notNull().defaultNow(),
  },
  (t) => [unique().on(t.pipeId, t.hook), index().on(t.workspaceId)],
)

export const VERDICTS = ['allowed', 'rejected', 'deferred'] as const
/** The receiver, an API call, what the hook says for a missing answer, or the end of a deferral. */
export const DECIDED_BY = ['receiver', 'api', 'default', 'time'] as const

/** The one decision about a file for each hook. Only `deferred` is ever replaced, and once. */
export const fileDecisions = pgTable(
  'file_decisions',
  {
    fileId: belongsTo(() => files.id),
    hook: text({ enum: HOOKS }).notNull(),
    state: text({ enum: VERDICTS }).notNull(),
    decidedBy: text({ enum: DECIDED_BY }).notNull(),
    /** Why it was rejected. The uploader is told. */
    reason: text(),
    /** What the uploader is handed. */
    result: jsonb().$type<unknown>(),
    decidedAt: instant().notNull(),
    /** A deferred file is rejected if nobody has decided by then. */
    deferredUntil: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.fileId, t.hook] }),
    index('file_decisions_deferred').on(t.deferredUntil).where(sql`${t.state} = 'deferred'`),
  ],
)
