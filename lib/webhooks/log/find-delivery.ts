import { and, eq } from 'drizzle-orm'
import { deliveries } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'

/** Deliveries of other workspaces are reported as not found. */
export async function findDelivery(db: Db, actor: Actor, id: string, lock?: 'update') {
  const query = db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.id, id), eq(deliveries.workspaceId, actor.workspaceId)))
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such delivery. They are kept for 30 days.')
  return row
}
