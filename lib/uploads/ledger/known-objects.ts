import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../../workspace/data-stores/sealed-data-store.ts'

/** All Data Stores but those of the demo. */
export function listedDataStores(db: Db): Promise<{ name: string; dataStore: SealedDataStore }[]> {
  return rows(
    db,
    sql`select ds.name, ${sealedDataStoreColumn()} as "dataStore" from data_stores ds
      where ds.deleted_at is null
        and not exists (select from workspaces w where w.id = ds.workspace_id and w.demo) order by ds.id`,
  )
}

/** Returns which of these keys belong to a file in the bucket. */
export async function knownKeys(
  db: Db,
  bucket: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await rows<{ key: string }>(
    db,
    sql`select key from file_destinations where bucket = ${bucket}
      and key in (select value from jsonb_array_elements_text(${JSON.stringify(keys)}::jsonb))`,
  )
  return new Set(found.map(({ key }) => key))
}
