import { sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { days, hours, minutes } from '../platform/kernel/clock.ts'
import { classify } from '../uploads/rules/faults.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../workspace/data-stores/sealed-data-store.ts'

type Clearing = Pick<UploadContext, 'db' | 'clock' | 'log' | 'openBucket'>

/** How long a bucket that does not respond may delay the entire run. */
const BUCKET_MS = minutes(1)
const GIVE_UP_AFTER_MS = days(7)

/**
 * Deletes the leftovers of uploads that ended without an object, and the objects of joined partial uploads. If the
 * credentials do not allow this, the leftovers stay until the bucket's lifecycle rule deletes them.
 */
export async function clearLeftovers(context: Clearing): Promise<number> {
  const pending = await claimLeftovers(context.db, context.clock.now())
  const buckets = Map.groupBy(pending, ({ dataStore }) => dataStore.id)
  await Promise.all([...buckets.values()].map((ofBucket) => clearBucket(context, ofBucket)))
  return pending.length
}

async function clearBucket(context: Clearing, pending: Leftover[]): Promise<void> {
  const signal = AbortSignal.timeout(BUCKET_MS)
  for (const left of pending) {
    if (signal.aborted) return
    if (await isDone(context, left, signal)) await markCleared(context.db, left)
  }
}

/** True if the leftovers were deleted, or if another attempt would be pointless. */
async function isDone(context: Clearing, left: Leftover, signal: AbortSignal): Promise<boolean> {
  const { fileId, endedMs } = left
  try {
    await clear(context, left, signal)
    return true
  } catch (error) {
    const { mayAbort, mayDelete } = left.dataStore
    const mayClear = abortsMultipart(left) ? mayAbort : mayDelete
    if (classify(error, 'clear', { mayClear }).remedy === 'release')
      return context.clock.now() - endedMs > GIVE_UP_AFTER_MS
    context.log.info({ fileId, err: error }, 'could not clean up after an upload')
    return true
  }
}

async function clear({ openBucket }: Clearing, left: Leftover, signal: AbortSignal): Promise<void> {
  const { key, piece, dataStore } = left
  const bucket = openBucket(dataStore)
  if (abortsMultipart(left)) return bucket.abortMultipart(left, { signal })
  // Without a multipart upload, a PutObject that was in progress when the upload ended may have created an object.
  if (piece || dataStore.mayDelete) await bucket.deleteObject(key, { signal })
}

const abortsMultipart = (left: Leftover): left is Leftover & { multipartId: string } =>
  left.multipartId !== null && !left.piece

type Leftover = {
  fileId: string
  key: string
  multipartId: string | null
  /**
   * True for an object that has to be deleted because its partial upload was joined or has expired, or because its file
   * failed at another destination.
   */
  piece: boolean
  endedMs: number
  dataStore: SealedDataStore
}

const BATCH = 60
/** How many leftovers in one bucket are cleared at the same time. */
export const CLEARED_AT_ONCE = 6
/** The pause between attempts: a quarter of the time since the upload ended, but within these limits. */
const MIN_PAUSE_MS = minutes(1)
const MAX_PAUSE_MS = hours(1)

/**
 * Claims some of the leftovers of ended uploads. The next attempt is scheduled before this one starts, so that no other
 * node works on the same leftover, and so that a crash is followed by another attempt.
 */
function claimLeftovers(db: Db, nowMs: number): Promise<Leftover[]> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const endedAt = sql`coalesce(f.retired_at, f.finished_at, f.created_at)`
  const ms = (count: number) => sql`${count}::int * interval '1 millisecond'`
  const pause = sql`least(greatest((${now} - ${endedAt}) / 4, ${ms(MIN_PAUSE_MS)}), ${ms(MAX_PAUSE_MS)})`
  const isDue = sql`d.abort_pending and coalesce(d.abort_at <= ${now}, true)`
  return rows<Leftover>(
    db,
    sql`
    with waiting as (
      select d.file_id, d.data_store_id, row_number() over (partition by d.data_store_id order by d.abort_at) as place
      from file_destinations d where ${isDue}
    ), due as (
      select d.file_id, d.data_store_id from file_destinations d join waiting using (file_id, data_store_id)
      where waiting.place <= ${CLEARED_AT_ONCE}::int and ${isDue}
      limit ${BATCH}::int for update of d skip locked
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

/** Records that nothing is left to do, unless a repair has started another multipart upload in the meantime. */
async function markCleared(db: Db, { fileId, dataStore, multipartId }: Leftover): Promise<void> {
  await db.execute(sql`update file_destinations set abort_pending = false,
      multipart_id = case when repair_at is null then multipart_id end
    where file_id = ${fileId}::uuid and data_store_id = ${dataStore.id}::uuid
      and multipart_id is not distinct from ${multipartId}`)
}
