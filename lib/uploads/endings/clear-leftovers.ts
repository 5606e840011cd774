import { days, minutes } from '../../platform/kernel/clock.ts'
import { claimLeftovers, type Leftover, markCleared } from '../ledger/endings.ts'
import { classify } from '../rules/faults.ts'
import type { UploadContext } from '../upload-context.ts'

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
    if (classify(error, 'clear', { mayClear }).verdict === 'release')
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
