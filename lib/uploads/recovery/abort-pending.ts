import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { days, hours, minutes } from '../../platform/kernel/clock.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../../workspace/data-stores/sealed-data-store.ts'
import { bucketFault } from '../bucket-port.ts'
import type { UploadContext } from '../upload-context.ts'

type Pending = {
  fileId: string
  key: string
  multipartId: string | null
  /** A partial upload that was joined or has expired: its object goes. */
  piece: boolean
  endedMs: number
  dataStore: SealedDataStore
}

type Clearing = Pick<UploadContext, 'db' | 'clock' | 'log' | 'openBucket'>

const BATCH = 60
const BATCH_PER_BUCKET = 6
/** A bucket that hangs keeps the others waiting no longer. */
const BUCKET_MS = minutes(1)
/** What has waited long waits a quarter as long again. */
const LEAST_PAUSE_MS = minutes(1)
const MOST_PAUSE_MS = hours(1)
const GIVE_UP_AFTER_MS = days(7)

/**
 * Clears away what uploads left that ended without an object, and the objects of partial uploads that were joined. Not
 * all keys may do that, and none must: a refusal ends the matter, and the bucket's lifecycle rule does the rest. With
 * `only`, nothing but these.
 */
export async function abortPending(context: Clearing, only?: readonly { fileId: string }[]): Promise<number> {
  const pending = await claim(context.db, context.clock.now(), only)
  const buckets = Map.groupBy(pending, ({ dataStore }) => dataStore.id)
  await Promise.all([...buckets.values()].map((ofBucket) => clearBucket(context, ofBucket)))
  return pending.length
}

async function clearBucket(context: Clearing, pending: Pending[]): Promise<void> {
  const signal = AbortSignal.timeout(BUCKET_MS)
  for (const left of pending) {
    if (signal.aborted) return
    if (await isDone(context, left, signal)) await strike(context.db, left.fileId)
  }
}

/** Or there is nothing more to be done. */
async function isDone(context: Clearing, left: Pending, signal: AbortSignal): Promise<boolean> {
  const { fileId, endedMs } = left
  try {
    await clear(context, left, signal)
    return true
  } catch (error) {
    const kind = bucketFault(error)
    if (kind === 'trouble' || kind === 'aborted') return context.clock.now() - endedMs > GIVE_UP_AFTER_MS
    context.log.info({ fileId, err: error }, 'what an upload left could not be cleared')
    return true
  }
}

async function clear({ openBucket }: Clearing, left: Pending, signal: AbortSignal): Promise<void> {
  const { key, multipartId, piece, dataStore } = left
  const bucket = openBucket(dataStore)
  if (multipartId && !piece) return bucket.abortMultipart({ key, multipartId }, { signal })
  // Without a multipart upload, what a writer was sending when the upload ended may have become an object.
  if (piece || dataStore.mayDelete) await bucket.deleteObject(key, { signal })
}

/** Put off before it is tried: two nodes may not both work on it, and after a crash it comes up again. */
function claim(db: Db, nowMs: number, only?: readonly { fileId: string }[]): Promise<Pending[]> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const endedAt = sql`coalesce(f.retired_at, f.finished_at, f.created_at)`
  const ms = (count: number) => sql`${count}::int * interval '1 millisecond'`
  const pause = sql`least(greatest((${now} - ${endedAt}) / 4, ${ms(LEAST_PAUSE_MS)}), ${ms(MOST_PAUSE_MS)})`
  const asked = only
    ? sql`d.file_id in (select value::uuid from jsonb_array_elements_text(
        ${JSON.stringify(only.map(({ fileId }) => fileId))}::jsonb))`
    : sql`true`
  const isDue = sql`d.abort_pending and coalesce(d.abort_at <= ${now}, true) and ${asked}`
  return rows<Pending>(
    db,
    sql`
    with waiting as (
      select d.file_id, row_number() over (partition by d.data_store_id order by d.abort_at) as place
      from file_destinations d where ${isDue}
    ), due as (
      select d.file_id, d.data_store_id from file_destinations d join waiting on waiting.file_id = d.file_id
      where waiting.place <= ${only ? only.length : BATCH_PER_BUCKET}::int and ${isDue}
      limit ${only ? only.length : BATCH}::int for update of d skip locked
    ), claimed as (
      update file_destinations d set abort_at = ${now} + ${pause} from due join files f on f.id = due.file_id
      where d.file_id = due.file_id and d.data_store_id = due.data_store_id returning d.*
    )
    select c.file_id as "fileId", c.key, c.multipart_id as "multipartId",
      f.concat = 'partial' and f.status = 'transferred' as piece,
      floor(extract(epoch from ${endedAt}) * 1000)::bigint as "endedMs",
      ${sealedDataStoreColumn()} as "dataStore"
    from claimed c join files f on f.id = c.file_id join data_stores ds on ds.id = c.data_store_id`,
  )
}

async function strike(db: Db, fileId: string): Promise<void> {
  await db.execute(sql`update file_destinations set abort_pending = false where file_id = ${fileId}::uuid`)
}
