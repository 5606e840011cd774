import { days, minutes } from '../platform/kernel/clock.ts'
import { bucketFault } from './bucket-port.ts'
import { claimLeftovers, type Leftover, strikeLeftover } from './ledger/claim-leftovers.ts'
import type { UploadContext } from './upload-context.ts'

type Clearing = Pick<UploadContext, 'db' | 'clock' | 'log' | 'openBucket'>

/** A bucket that hangs keeps the others waiting no longer. */
const BUCKET_MS = minutes(1)
const GIVE_UP_AFTER_MS = days(7)

/**
 * Clears away what uploads left that ended without an object, and the objects of partial uploads that were joined. Not
 * all keys may do that, and none must: a refusal ends the matter, and the bucket's lifecycle rule does the rest. With
 * `only`, nothing but these.
 */
export async function clearLeftovers(
  context: Clearing,
  only?: readonly { fileId: string }[],
): Promise<number> {
  const pending = await claimLeftovers(context.db, context.clock.now(), only)
  const buckets = Map.groupBy(pending, ({ dataStore }) => dataStore.id)
  await Promise.all([...buckets.values()].map((ofBucket) => clearBucket(context, ofBucket)))
  return pending.length
}

async function clearBucket(context: Clearing, pending: Leftover[]): Promise<void> {
  const signal = AbortSignal.timeout(BUCKET_MS)
  for (const left of pending) {
    if (signal.aborted) return
    if (await isDone(context, left, signal)) await strikeLeftover(context.db, left.fileId)
  }
}

/** Or there is nothing more to be done. */
async function isDone(context: Clearing, left: Leftover, signal: AbortSignal): Promise<boolean> {
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

async function clear({ openBucket }: Clearing, left: Leftover, signal: AbortSignal): Promise<void> {
  const { key, multipartId, piece, dataStore } = left
  const bucket = openBucket(dataStore)
  if (multipartId && !piece) return bucket.abortMultipart({ key, multipartId }, { signal })
  // Without a multipart upload, what a writer was sending when the upload ended may have become an object.
  if (piece || dataStore.mayDelete) await bucket.deleteObject(key, { signal })
}
