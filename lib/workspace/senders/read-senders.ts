import { and, desc, eq, lt } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Sender, toSender } from './sender.ts'

type Row = typeof senders.$inferSelect

/** Another workspace's Sender is as absent as one that never was. */
export async function findSender(db: Db, actor: Actor, id: string, lock?: 'update'): Promise<Row> {
  const query = db
    .select()
    .from(senders)
    .where(and(eq(senders.id, id), eq(senders.workspaceId, actor.workspaceId)))
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such Sender.')
  return row
}

export async function showSender({ db }: Pick<Runtime, 'db'>, actor: Actor, id: string): Promise<Sender> {
  return toSender(await findSender(db, actor, id))
}

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
