import { and, desc, eq, lt } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Sender, toSender } from './sender.ts'

export async function listSenders(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<Sender>> {
  const before = readCursor(cursor, isUuid)
  const rows = await db
    .select()
    .from(senders)
    .where(and(eq(senders.workspaceId, actor.workspaceId), before ? lt(senders.id, before) : undefined))
    .orderBy(desc(senders.id))
    .limit(limit + 1)
  return toPage(rows, limit, toSender, (row) => row.id)
}
