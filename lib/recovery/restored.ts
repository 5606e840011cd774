import { sql } from 'drizzle-orm'
import { IS_FILE } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { isFree, released } from '../uploads/ledger/lease-terms.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../workspace/data-stores/sealed-data-store.ts'

/** Statements for a restored database, which may not know objects that were created after the backup. */

/**
 * For a restored database: drops expired leases. When an upload ends while it has a lease, the object that its writer
 * may have created is deleted. After a restore, that object may be a file that was delivered since the backup.
 */
export async function dropLapsedLeases(db: Db): Promise<number> {
  const dropped = await rows(
    db,
    sql`update files set ${released}, interrupted = true
      where status = 'uploading' and lease_until < now() returning id`,
  )
  return dropped.length
}

export type Unfinished = {
  id: string
  lengthBytes: number
  /** The required destinations come first. */
  destinations: readonly { key: string; required: boolean; dataStore: SealedDataStore }[]
}

const PAGE = 100

/** A page, in id order, of uploads of known length that nobody is writing and whose required buckets can be read. */
export function unfinishedAfter(db: Db, after: string): Promise<Unfinished[]> {
  return rows<Unfinished>(
    db,
    sql`select f.id, f.length_bytes as "lengthBytes", json_agg(json_build_object('key', d.key,
          'required', d.required, 'dataStore', ${sealedDataStoreColumn()}) order by d.position) as destinations
      from files f join file_destinations d on d.file_id = f.id join data_stores ds on ds.id = d.data_store_id
      where f.id > ${after}::uuid and f.status = 'uploading' and f.length_bytes is not null
        and ${IS_FILE} and ${isFree}
      group by f.id having bool_and(not d.required or ds.deleted_at is null and ds.may_read)
      order by f.id limit ${PAGE}::int`,
  )
}

/** All Data Stores except deleted ones and those of the demo. */
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
