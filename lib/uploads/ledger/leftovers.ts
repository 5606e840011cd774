import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { hours, minutes } from '../../platform/kernel/clock.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../../workspace/data-stores/sealed-data-store.ts'

export type Leftover = {
  fileId: string
  key: string
  multipartId: string | null
  /** A partial upload that was joined or has expired, or the object of a file that failed elsewhere: it is deleted. */
  piece: boolean
  endedMs: number
  dataStore: SealedDataStore
}

const BATCH = 60
/** Of one bucket. */
export const CLEARED_AT_ONCE = 6
/** The pause between attempts: a quarter of the time since the upload ended, between these limits. */
const MIN_PAUSE_MS = minutes(1)
const MAX_PAUSE_MS = hours(1)

/**
 * Claims some of what ended uploads left in their buckets. The next attempt is scheduled before this one begins, so
 * that no other node works on the same leftover, and so that it is tried again after a crash.
 */
export function claimLeftovers(
  db: Db,
  nowMs: number,
  only?: readonly { fileId: string }[],
): Promise<Leftover[]> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const endedAt = sql`coalesce(f.retired_at, f.finished_at, f.created_at)`
  const ms = (count: number) => sql`${count}::int * interval '1 millisecond'`
  const pause = sql`least(greatest((${now} - ${endedAt}) / 4, ${ms(MIN_PAUSE_MS)}), ${ms(MAX_PAUSE_MS)})`
  const asked = only
    ? sql`d.file_id in (select value::uuid from jsonb_array_elements_text(
        ${JSON.stringify(only.map(({ fileId }) => fileId))}::jsonb))`
    : sql`true`
  const isDue = sql`d.abort_pending and coalesce(d.abort_at <= ${now}, true) and ${asked}`
  return rows<Leftover>(
    db,
    sql`
    with waiting as (
      select d.file_id, d.data_store_id, row_number() over (partition by d.data_store_id order by d.abort_at) as place
      from file_destinations d where ${isDue}
    ), due as (
      select d.file_id, d.data_store_id from file_destinations d join waiting using (file_id, data_store_id)
      where waiting.place <= ${only ? only.length : CLEARED_AT_ONCE}::int and ${isDue}
      limit ${only ? only.length : BATCH}::int for update of d skip locked
    ), claimed as (
      update file_destinations d set abort_at = ${now} + ${pause} from due join files f on f.id = due.file_id
      where d.file_id = due.file_id and d.data_store_id = due.data_store_id returning d.*
    )
    select c.file_id as "fileId", c.key, c.multipart_id as "multipartId",
      (c.status = 'transferred' and (f.concat = 'partial' and f.status in ('transferred', 'partially_transferred') or f.status = 'failed')) as piece,
      floor(extract(epoch from ${endedAt}) * 1000)::bigint as "endedMs",
      ${sealedDataStoreColumn()} as "dataStore"
    from claimed c join files f on f.id = c.file_id join data_stores ds on ds.id = c.data_store_id`,
  )
}

/** Records that nothing is left to be done about it, unless a repair has begun another multipart upload since. */
export async function markCleared(db: Db, { fileId, dataStore, multipartId }: Leftover): Promise<void> {
  await db.execute(sql`update file_destinations set abort_pending = false,
      multipart_id = case when position is null then multipart_id end
    where file_id = ${fileId}::uuid and data_store_id = ${dataStore.id}::uuid
      and multipart_id is not distinct from ${multipartId}`)
}
