import { and, desc, eq, lt } from 'drizzle-orm'
import { z } from 'zod'
import { auditLog } from '#drizzle/schema/index.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Actor } from './record-audit.ts'

export const auditAnswer = z.strictObject({
  id: z.uuid(),
  at: z.iso.datetime(),
  actor: z.strictObject({
    kind: z.enum(['user', 'account_key', 'operator', 'system']),
    id: z.string().nullable(),
    label: z.string(),
    /** Of the client that asked; null for what Sluice did by itself. */
    address: z.string().nullable(),
  }),
  action: z.string(),
  subjectId: z.string().nullable(),
  subjectLabel: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()),
})
export type AuditLine = z.output<typeof auditAnswer>

export async function listAudit(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<AuditLine>> {
  const before = readCursor(cursor, isUuid)
  const rows = await db
    .select()
    .from(auditLog)
    .where(and(eq(auditLog.workspaceId, actor.workspaceId), before ? lt(auditLog.id, before) : undefined))
    .orderBy(desc(auditLog.id))
    .limit(limit + 1)
  return toPage(rows, limit, toLine, (row) => row.id)
}

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
