import { and, eq } from 'drizzle-orm'
import { senders } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'

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
