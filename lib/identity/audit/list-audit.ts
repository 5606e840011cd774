import { and, desc, eq, gte, lt, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { auditLog } from '#drizzle/schema/index.ts'
import { eachPage, type Page, pageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { firstUuidAt, isUuid } from '../../platform/kernel/ids.ts'
import { isPlainText, timeField } from '../../platform/kernel/parse-input.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { createTurns, inTurn } from '../../platform/turns.ts'
import type { Actor } from './record-audit.ts'

const ACTOR_KINDS = ['user', 'account_key', 'operator', 'system'] as const

export const auditQuery = pageQuery.extend({
  /** An action such as `member.removed`, or a kind such as `member`. */
  action: z
    .string()
    .regex(
      /^[a-z_]{1,50}(\.[a-z_]{1,50})?$/,
      'must be an action, such as member.removed, or a kind, such as member',
    )
    .optional(),
  actorKind: z.enum(ACTOR_KINDS, `must be one of ${ACTOR_KINDS.join(', ')}`).optional(),
  /** Part of the actor's or the target's label, case-insensitive, or the id of either. */
  search: z.string().min(1).max(255).refine(isPlainText, 'must not contain control characters').optional(),
  createdAfter: timeField.optional(),
  createdBefore: timeField.optional(),
})
export type AuditQuery = z.output<typeof auditQuery>

export const auditAnswer = z.strictObject({
  id: z.uuid(),
  at: z.iso.datetime(),
  actor: z.strictObject({
    kind: z.enum(ACTOR_KINDS),
    id: z.string().nullable(),
    label: z.string(),
    /** The client's address; null for actions by Sluice itself. */
    address: z.string().nullable(),
  }),
  action: z.string(),
  subjectId: z.string().nullable(),
  subjectLabel: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
})
export type AuditLine = z.output<typeof auditAnswer>

/** A search reads up to the whole log, so each workspace runs one at a time, and never takes the last turn. */
const searches = createTurns({ most: 2, waiting: 64, waitingForEach: 16 })

export async function listAudit(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  query: AuditQuery,
): Promise<Page<AuditLine>> {
  const before = readCursor(query.cursor, isUuid)
  const read = async () =>
    db
      .select()
      .from(auditLog)
      .where(
        and(
          eq(auditLog.workspaceId, actor.workspaceId),
          before ? lt(auditLog.id, before) : undefined,
          fits(query),
        ),
      )
      .orderBy(desc(auditLog.id))
      .limit(query.limit + 1)
  const rows = await (query.search ? inTurn(searches, actor.workspaceId, read) : read())
  return toPage(rows, query.limit, toLine, (row) => row.id)
}

function fits({ action, actorKind, search, createdAfter, createdBefore }: AuditQuery): SQL | undefined {
  return and(
    createdAfter ? gte(auditLog.id, firstUuidAt(createdAfter.getTime())) : undefined,
    createdBefore ? lt(auditLog.id, firstUuidAt(createdBefore.getTime())) : undefined,
    actorKind ? eq(auditLog.actorKind, actorKind) : undefined,
    action ? isAction(action) : undefined,
    search ? mentions(search) : undefined,
  )
}

function isAction(action: string): SQL {
  if (action.includes('.')) return eq(auditLog.action, action)
  return sql`starts_with(${auditLog.action}, ${`${action}.`})`
}

function mentions(text: string): SQL | undefined {
  const part = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
  return or(
    sql`${auditLog.actorLabel} ilike ${part}`,
    sql`${auditLog.subjectLabel} ilike ${part}`,
    eq(auditLog.actorId, text),
    eq(auditLog.subjectId, text),
  )
}

const AT_ONCE = 100

/** All matching audit log entries, for an export. */
export const eachAuditLine = (runtime: Pick<Runtime, 'db'>, actor: Actor, query: AuditQuery) =>
  eachPage((cursor) => listAudit(runtime, actor, { ...query, cursor, limit: AT_ONCE }))

function toLine(row: typeof auditLog.$inferSelect): AuditLine {
  return {
    id: row.id,
    at: row.createdAt.toISOString(),
    actor: { kind: row.actorKind, id: row.actorId, label: row.actorLabel, address: row.clientAddress },
    action: row.action,
    subjectId: row.subjectId,
    subjectLabel: row.subjectLabel,
    detail: row.detail,
  }
}
