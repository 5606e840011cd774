import { crc32 } from 'node:zlib'
import { hours } from '../../platform/kernel/clock.ts'
import { within } from '../../platform/kernel/waits.ts'
import type { Bucket } from '../bucket-port.ts'
import { concatenate } from '../concat/concatenate.ts'
import { completeUpload } from '../finish/complete.ts'
import type { Stored } from '../finish/record-transferred.ts'
import { type Attempt, giveUp, settle, settleFault } from '../finish/settle.ts'
import type { Lease } from '../lease/held-lease.ts'
import { type Claimed, claimTransferring } from '../ledger/claim-transferring.ts'
import { readPartials } from '../ledger/partials.ts'
import { recordLastPart } from '../ledger/parts.ts'
import { readTail } from '../ledger/tails.ts'
import { withMemory } from '../memory/memory-budget.ts'
import { contentTypeOf } from '../rules/content-type.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'

/** A file without an object this long after its last byte gets one more attempt, and then fails. */
const GIVE_UP_AFTER_MS = hours(24)
/** How many files one node works on. */
const AT_ONCE = 32
const AT_ONCE_PER_BUCKET = 4

/**
 * Makes the objects of files whose bytes are all durable. (Other interrupted uploads are resumed by their clients: see
 * takeLease.) An attempt holds the file's lease, so only one node works on it. Returns how many attempts were begun.
 */
export async function reconcileUploads(context: UploadContext): Promise<number> {
  const { db, clock, reconciling, terms } = context
  if (reconciling.size >= AT_ONCE) return 0
  const nowMs = clock.now()
  const claimed = await claimTransferring(db, terms.leaseMs, {
    limit: AT_ONCE - reconciling.size,
    limitPerBucket: AT_ONCE_PER_BUCKET,
    nowMs,
    busy: [...reconciling.values()],
  })
  // A bucket that does not respond must not delay the others.
  await within(terms.reconcileMs, Promise.all(claimed.map((file) => begin(context, file, nowMs))))
  return claimed.length
}

function begin(context: UploadContext, file: Claimed, sinceMs: number): Promise<void> {
  const { reconciling } = context
  const work = reconcile(context, file, sinceMs).finally(() => reconciling.delete(work))
  reconciling.set(work, file.dataStore.id)
  inBackground(context, work)
  return work
}

async function reconcile(context: UploadContext, file: Claimed, sinceMs: number): Promise<void> {
  const { fileId } = file
  const lease = context.leases.adopt(file, sinceMs)
  try {
    if (isOver(file)) await giveUp(context, attempt(context, file, lease))
    else await makeObject(context, file, lease)
  } catch (error) {
    context.log.warn({ err: error, fileId }, 'could not create the object; will retry')
  } finally {
    await lease.release({ interrupted: false }).catch(() => {})
  }
}

/**
 * The previous attempt was past the deadline already: even after a long outage of Sluice, there is one late attempt.
 */
function isOver({ sinceMs, lastAttemptMs }: Claimed): boolean {
  return lastAttemptMs !== null && lastAttemptMs - sinceMs > GIVE_UP_AFTER_MS
}

function attempt(context: UploadContext, file: Claimed, lease: Lease): Attempt {
  const { fileId, key, bytes: lengthBytes, sentBefore, dataStore } = file
  // Opened only when used: a file must end even if its credentials can no longer be decrypted.
  const headObject: Bucket['headObject'] = async (...asked) =>
    context.openBucket(dataStore).headObject(...asked)
  const destination = { bucket: { headObject }, key, mayRead: dataStore.mayRead }
  return { fileId, lease, destination, lengthBytes, sentBefore }
}

async function makeObject(context: UploadContext, file: Claimed, lease: Lease): Promise<void> {
  const { fileId, key, multipartId, bytes, crc32, sentBefore } = file
  const { mayRead } = file.dataStore
  const bucket = context.openBucket(file.dataStore)
  if (file.concat === 'final') return joinAgain(context, file, lease, bucket)
  const account = context.budget.account(bucket)
  const memory = { bytes: file.tailBytes, signal: lease.signal }
  const unsettled = attempt(context, file, lease)
  if (multipartId === null) {
    const putting = withMemory(account, memory, () => putFromTail(context, file, lease, bucket))
    return void (await settle(context, unsettled, 'put', putting))
  }
  if (file.tailBytes > 0)
    try {
      await withMemory(account, memory, () => sendTail(context, file, multipartId, { lease, bucket }))
    } catch (error) {
      return void (await settleFault(context, unsettled, 'last part', error))
    }
  await completeUpload(context, {
    fileId,
    lease,
    destination: { bucket, key, mayRead },
    multipartId,
    bytes,
    crc32,
    sentBefore,
  })
}

/** Starts over, as nothing of an earlier attempt is visible. */
async function joinAgain(context: UploadContext, file: Claimed, lease: Lease, bucket: Bucket): Promise<void> {
  await concatenate(context, {
    fileId: file.fileId,
    lease,
    bucket,
    leftMultipartId: file.multipartId,
    partials: await readPartials(context.db, file.concatParts ?? []),
    target: { key: file.key, contentType: contentTypeOf(file.filetype) },
  })
}

/** Stores a file of one part that the bucket did not accept when it arrived. */
async function putFromTail(
  context: UploadContext,
  file: Claimed,
  lease: Lease,
  bucket: Bucket,
): Promise<Stored> {
  const chunks = await readTail(context, file.fileId)
  lease.assertHeld()
  const target = { key: file.key, contentType: contentTypeOf(file.filetype) }
  const { bytes, crc32: crc } = file
  // The first attempt may have reached the bucket.
  const options = { signal: lease.signal, repeated: true }
  const { etag } = await bucket.putObject(target, { chunks, bytes, crc32: crc }, options)
  context.checkpoint('object put')
  return { delivered: { etag, certainty: etag === null ? 'inferred' : 'answered' } }
}

/** Sends the last part, whose bytes are in the tail. Every attempt sends the same bytes under the same number. */
async function sendTail(
  context: UploadContext,
  file: Claimed,
  multipartId: string,
  { lease, bucket }: { lease: Lease; bucket: Bucket },
): Promise<void> {
  const { db, checkpoint } = context
  const chunks = await readTail(context, file.fileId)
  const number = file.tailPartNumber
  const crc = chunks.reduce((sum, chunk) => crc32(chunk, sum), 0)
  lease.assertHeld()
  const body = { chunks, bytes: file.tailBytes, crc32: crc }
  const { etag } = await bucket.uploadPart({ key: file.key, multipartId, number }, body, {
    signal: lease.signal,
  })
  checkpoint('part sent')
  const offsetBytes = file.bytes - file.tailBytes
  await recordLastPart(db, lease, { number, offsetBytes, sizeBytes: file.tailBytes, etag, crc32: crc })
  checkpoint('part recorded')
}
