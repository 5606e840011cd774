import { type SQL, sql } from 'drizzle-orm'
import { firstUuidAt } from '../../platform/kernel/ids.ts'

/**
 * SQL condition for a destination `d` of a file that is, or was, partially transferred: the destination is missing the
 * object.
 */
export const MISSING_COPY = sql`(d.repair_at is not null or d.repair_attempts is not null)`

/**
 * Selects the Data Stores that have been missing an object since before `beforeMs`, as alert rows with the error of
 * the oldest missing object. The query steps from one Data Store to the next, so one that is missing a million objects
 * costs no more than one that is missing a single object.
 */
export function storesMissingCopies(beforeMs: number): SQL {
  return sql`
    select ds.workspace_id, 'copies_missing', ds.id::text, ds.name, m.reason_detail
    from (
      with recursive stores as (
        (select d.data_store_id as id from file_destinations d where ${MISSING_COPY} order by d.data_store_id limit 1)
        union all
        select (select d.data_store_id from file_destinations d
          where ${MISSING_COPY} and d.data_store_id > stores.id order by d.data_store_id limit 1)
        from stores where stores.id is not null
      )
      select id from stores
    ) stores join data_stores ds on ds.id = stores.id and ds.deleted_at is null
      cross join lateral (
        select d.reason_detail from file_destinations d join files f on f.id = d.file_id
        where d.data_store_id = ds.id and ${MISSING_COPY} and d.file_id < ${firstUuidAt(beforeMs)}::uuid
          and f.status = 'partially_transferred' and f.erased_at is null
          and f.finished_at < ${new Date(beforeMs).toISOString()}::timestamptz
        order by d.file_id limit 1
      ) m`
}
