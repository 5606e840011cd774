import { and, count, desc, eq, inArray, isNull, lt, sql } from 'drizzle-orm'
import { dataStores, fileDestinations, files } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type DataStore, toDataStore } from './data-store.ts'
import { type DataStoreState, dataStoreStateColumn } from './sealed-data-store.ts'

export type DataStoreRow = typeof dataStores.$inferSelect

/** A Data Store in another workspace is reported as missing. */
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

export async function showDataStore(
  runtime: Pick<Runtime, 'db' | 'vault' | 'config'>,
  actor: Actor,
  id: string,
): Promise<DataStore> {
  return toDataStore(await findDataStore(runtime.db, actor, id), runtime)
}

export async function listDataStores(
  runtime: Pick<Runtime, 'db' | 'vault' | 'config'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<DataStore>> {
  const before = readCursor(cursor, isUuid)
  const found = await runtime.db
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
    found,
    limit,
    (row) => toDataStore(row, runtime),
    (row) => row.id,
  )
}

/** The states of these Data Stores by id. Unlike a check's result, they decide whether uploads are accepted. */
export async function readStates(db: Db, ids: readonly string[]): Promise<Map<string, DataStoreState>> {
  const found = await rows<{ id: string; state: DataStoreState }>(
    db,
    sql`select ds.id, ${dataStoreStateColumn()} as state from data_stores ds
      where ds.id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb))`,
  )
  return new Map(found.map(({ id, state }) => [id, state]))
}

/** Uploads that still need this Data Store's bucket and keys. */
export async function countUploadsUnderWay(db: Db, dataStoreId: string): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(fileDestinations)
    .innerJoin(files, eq(files.id, fileDestinations.fileId))
    .where(
      and(
        eq(fileDestinations.dataStoreId, dataStoreId),
        inArray(files.status, ['uploading', 'transferring']),
      ),
    )
  return row!.n
}

export function uploads(n: number): string {
  return n === 1 ? '1 upload is' : `${n} uploads are`
}
