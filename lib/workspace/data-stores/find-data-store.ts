import { and, eq, isNull } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'

export type DataStoreRow = typeof dataStores.$inferSelect

/** Another workspace's Data Store is as absent as one that never was. */
export async function findDataStore(
  db: Db,
  actor: Actor,
  id: string,
  lock?: 'update',
): Promise<DataStoreRow> {
  const query = db
    .select()
    .from(dataStores)
    .where(
      and(eq(dataStores.id, id), eq(dataStores.workspaceId, actor.workspaceId), isNull(dataStores.deletedAt)),
    )
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such Data Store.')
  return row
}
