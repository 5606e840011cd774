import { and, eq, isNull } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { invalidRequest } from '../../platform/kernel/parse-input.ts'

/** The Data Store that a Pipe is to use: it exists, is the actor's, and cannot be deleted until this commits. */
export async function lockDataStore(tx: Db, actor: Actor, id: string): Promise<void> {
  const found = await tx
    .select({ id: dataStores.id })
    .from(dataStores)
    .where(
      and(eq(dataStores.id, id), eq(dataStores.workspaceId, actor.workspaceId), isNull(dataStores.deletedAt)),
    )
    .for('share')
  if (found.length === 0)
    throw invalidRequest([{ field: 'dataStoreId', message: 'is no Data Store of yours' }])
}
