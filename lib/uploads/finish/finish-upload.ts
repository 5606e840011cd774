import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { within } from '../../platform/kernel/waits.ts'
import type { Body } from '../bucket-port.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import type { FoundAtEach } from '../ledger/transferred.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { Upload } from '../opening/upload.ts'
import { classify } from '../rules/faults.ts'
import type { Parts } from '../stream/parts.ts'
import { withTail } from '../stream/tails.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import { assemble } from './complete.ts'
import { judge } from './judge.ts'
import { putAtEach } from './put-at-each.ts'
import { deliveredByPut, recordTransferred } from './record-transferred.ts'
import { settleFile } from './settle.ts'

type Finished = { offsetBytes: number; state: 'transferring' | FoundAtEach['status'] }

/**
 * Stores a file whose last byte has arrived. A single-part file is stored by a single PutObject; any other file becomes
 * `transferring` with its last part, and then an object. If the bucket is slow, the client gets its response before the
 * object exists, which is safe because every byte is durable. If the file fails, its lease is released and this throws.
 */
export async function finishUpload(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  const { destinations } = upload
  const hasParts = destinations.some(({ multipartId }) => multipartId !== null) || parts.sentParts > 0
  if (upload.isGated) return holdForDecision(upload, parts, last, { hasParts })
  if (hasParts) return assembleParts(context, upload, parts, last)
  return putWhole(context, upload, parts, last)
}

/** For a file that a hook decides on: makes every byte durable, without creating the object yet. */
async function holdForDecision(
  { progress }: Upload,
  parts: Parts,
  last: PartBuffer,
  { hasParts }: { hasParts: boolean },
): Promise<Finished> {
  const end = { become: 'transferring', release: { interrupted: false } } as const
  if (hasParts && parts.tailBytes + last.bytes > 0) parts.send(last, end)
  else void parts.storeAsTail(last, end)
  await parts.recorded()
  return { offsetBytes: progress.offsetBytes, state: 'transferring' }
}

async function assembleParts(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  if (parts.tailBytes + last.bytes > 0) parts.send(last, { become: 'transferring' })
  else void parts.storeAsTail(last, { become: 'transferring' })
  await parts.recorded()
  context.checkpoint('transferring')
  const { fileId, lease, progress, destinations } = upload
  const file = { fileId, lease, sentBefore: false }
  const whole = { bytes: progress.offsetBytes, crc32: progress.crc32 }
  const unsettled = {
    ...file,
    lengthBytes: whole.bytes,
    crc32: whole.crc32,
    hasOneDestination: destinations.length === 1,
    destinations: destinations.filter(({ isOpen }) => isOpen),
  }
  const completing = settleFile(context, unsettled, (attempt) => {
    const { destination } = attempt
    const assembling = assemble(context, { ...file, ...whole, destination }, attempt.lease.signal)
    return judge(context, attempt, 'complete', assembling)
  })
  inBackground(context, completing)
  const outcome = await within(context.terms.assembleMs, completing)
  if (outcome !== 'late' && outcome.kind === 'failed') throw outcome.error
  const isThere = outcome !== 'late' && outcome.kind === 'transferred'
  return { offsetBytes: progress.offsetBytes, state: isThere ? outcome.status : 'transferring' }
}

/**
 * Stores a file with a single PutObject at each destination. Nothing is confirmed before the bucket has responded:
 * after a crash, the client sends the bytes again, and the same key is written again. If the bucket has a transient
 * error, the bytes go to the database, and the reconciler sends them.
 */
async function putWhole(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  await parts.recorded()
  if (upload.destinations.length > 1) {
    const outcome = await putAtEach(context, upload, parts, last)
    if (!outcome) return keepWhole(context, upload, parts, last)
    const state = outcome.kind === 'transferred' ? outcome.status : 'transferring'
    return { offsetBytes: upload.progress.offsetBytes, state }
  }
  const crc32 = combineCrc32(upload.progress.crc32, last.crc32, last.bytes)
  const stored = await putObject(context, upload, last, crc32)
  if (!stored) return keepWhole(context, upload, parts, last)
  context.checkpoint('object put')
  const { lease, workspaceId, hasWebhooks, progress } = upload
  const fromBytes = progress.offsetBytes
  const { etag } = stored
  const toBytes = fromBytes + last.bytes
  const { bucket, target } = upload.destinations[0]!
  const delivered = deliveredByPut(bucket, target, etag)
  const { foundType } = parts
  const whole = { workspaceId, lease, hasWebhooks, fromBytes, toBytes, crc32, delivered, foundType }
  await parts.recordWhole({ offsetBytes: toBytes, crc32 }, async () => {
    const recording = recordTransferred(
      context,
      lease,
      { whole: () => context.recordWhole(whole), etag },
      { lengthBytes: toBytes, crc32 },
    )
    if (!(await lease.whileHeld(recording))) throw lostLease()
    context.checkpoint('transferred')
  })
  return { offsetBytes: toBytes, state: 'transferred' }
}

/** Keeps the bytes in the database, for the reconciler. */
async function keepWhole(
  { log }: UploadContext,
  { fileId, progress }: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  log.warn({ fileId }, 'bucket unavailable; object buffered in the database')
  void parts.storeAsTail(last, { become: 'transferring', release: { interrupted: false } })
  await parts.recorded()
  return { offsetBytes: progress.offsetBytes, state: 'transferring' }
}

/**
 * Sends the object in a single PutObject: the tail, if any, and the last bytes. Undefined if the bucket takes too
 * long or has a transient error. `crc32` was computed as the bytes arrived, so the bucket refuses the object if the
 * tail has been damaged since.
 */
async function putObject(
  context: UploadContext,
  upload: Upload,
  last: PartBuffer,
  crc32: number,
): Promise<{ etag: string | null } | undefined> {
  const { lease, progress } = upload
  const destination = upload.destinations[0]!
  const { bucket, target } = destination
  // The PUT must be aborted before its buffers are reused.
  const late = new AbortController()
  const signal = AbortSignal.any([lease.signal, late.signal])
  const put = (body: Body) => {
    lease.assertHeld()
    destination.puttingObject()
    const { chunks, bytes } = body
    return bucket.putObject(target, { chunks, bytes, crc32 }, { signal })
  }
  const tailed = { fromBytes: 0, toBytes: progress.offsetBytes, body: last, signal }
  const putting = progress.tailBytes > 0 ? withTail(context, upload, tailed, put) : put(last)
  const stored = await within(context.terms.assembleMs, putting).catch((error: unknown) => {
    if (classify(error, 'put').verdict === 'keep in tail') return 'late' as const
    throw error
  })
  if (stored !== 'late') return stored
  late.abort()
  return undefined
}
