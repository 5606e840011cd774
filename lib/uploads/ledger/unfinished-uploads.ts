import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../../workspace/data-stores/sealed-data-store.ts'

export type Unfinished = { id: string; key: string; lengthBytes: number; dataStore: SealedDataStore }

const PAGE = 100

/** A page, in the order of ids, of the uploads of known length that nobody is writing and whose bucket may be read. */
export function unfinishedAfter(db: Db, after: string): Promise<Unfinished[]> {
  return rows<Unfinished>(
    db,
    sql`select f.id, d.key, f.length_bytes as "lengthBytes", ${sealedDataStoreColumn()} as "dataStore"
      from files f join file_destinations d on d.file_id = f.id
        join data_stores ds on ds.id = d.data_store_id and ds.deleted_at is null and ds.may_read
      where f.id > ${after}::uuid and f.status = 'uploading' and f.length_bytes is not null
        and f.concat is distinct from 'partial' and (f.lease_until is null or f.lease_until < now())
      order by f.id limit ${PAGE}::int`,
  )
}
