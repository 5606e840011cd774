import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type DataStore, toDataStore } from './data-store.ts'

export async function listDataStores(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<DataStore>> {
  const before = readCursor(cursor, isUuid)
  const rows = await db
    .select()
    .from(dataStores)
    .where(
      and(
        eq(dataStores.workspaceId, actor.workspaceId),
        isNull(dataStores.deletedAt),
        before ? lt(dataStores.id, before) : undefined,
      ),
    )
    .orderBy(desc(dataStores.id))
    .limit(limit + 1)
  return toPage(
    rows,
    limit,
    (row) => toDataStore(row, vault),
    (row) => row.id,
  )
}
