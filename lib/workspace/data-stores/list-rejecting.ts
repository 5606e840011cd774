import { and, asc, eq, isNotNull, isNull } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'

export type Rejecting = { id: string; name: string; since: Date; reason: string }

/** The Data Stores that do not take uploads now, the oldest trouble first. */
export async function listRejecting(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
): Promise<Rejecting[]> {
  const found = await db
    .select({
      id: dataStores.id,
      name: dataStores.name,
      since: dataStores.rejectingSince,
      reason: dataStores.rejection,
    })
    .from(dataStores)
    .where(
      and(
        eq(dataStores.workspaceId, workspaceId),
        isNull(dataStores.deletedAt),
        isNotNull(dataStores.rejectingSince),
      ),
    )
    .orderBy(asc(dataStores.rejectingSince))
  return found.map(({ since, reason, ...store }) => ({ ...store, since: since!, reason: reason ?? '' }))
}
