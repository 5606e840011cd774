import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { within } from '../../platform/kernel/waits.ts'
import type { Body } from '../bucket-port.ts'
import { type Delivery, recordPut } from '../ledger/destinations.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { classify } from '../rules/faults.ts'
import type { Parts } from '../stream/parts.ts'
import { withTail } from '../stream/tails.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import { judge } from './judge.ts'
import { deliveredByPut, type Stored } from './record-transferred.ts'
import { type Outcome, settleSeveral, type Try } from './settle.ts'

type Put = { destination: Destination; storing: Promise<Extract<Stored, { delivered: unknown }>> }

/**
 * Stores a single-part file with a PutObject at each of its destinations, from one buffer. The required destinations
 * determine the outcome; the best-effort destinations may use the buffer a little longer. Undefined if a required
 * bucket takes too long or has a transient error.
 */
export async function putAtEach(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Outcome | undefined> {
  const { lease, progress } = upload
  const crc32 = combineCrc32(progress.crc32, last.crc32, last.bytes)
  const over = new AbortController()
  const signal = AbortSignal.any([lease.signal, over.signal])
  const begun = Promise.withResolvers<Put[]>()
  const toAll = async ({ chunks, bytes }: Body) => {
    const puts = openDestinations(upload).map((destination) => ({
      destination,
      storing: put(upload, destination, { chunks, bytes, crc32 }, signal),
    }))
    begun.resolve(puts)
    await Promise.allSettled(puts.map(({ storing }) => storing))
  }
  const tailed = { fromBytes: 0, toBytes: progress.offsetBytes, body: last, signal }
  const putting = progress.tailBytes > 0 ? withTail(context, upload, tailed, toAll) : toAll(last)
  putting.catch(begun.reject)
  last.keepUntil(putting)
  inBackground(context, putting)
  try {
    const puts = await begun.promise
    const deliveries = await atRequired(context, puts)
    if (!deliveries) {
      over.abort()
      return undefined
    }
    await record(context, upload, parts, { toBytes: progress.offsetBytes + last.bytes, crc32, deliveries })
    context.checkpoint('object put')
    return await settleSeveral(context, upload, triesOf(context, upload, puts, over))
  } catch (fault) {
    over.abort()
    throw fault
  }
}

const openDestinations = ({ destinations }: Upload) => destinations.filter(({ isOpen }) => isOpen)

async function put(
  { lease }: Upload,
  destination: Destination,
  body: Body,
  signal: AbortSignal,
): Promise<Extract<Stored, { delivered: unknown }>> {
  const { bucket, target } = destination
  lease.assertHeld()
  destination.puttingObject()
  const { etag } = await bucket.putObject(target, body, { signal }).catch((fault: unknown) => {
    destination.failedWith(fault)
    throw fault
  })
  return { delivered: deliveredByPut(bucket, target, etag) }
}

/** Returns the required destinations' responses. Undefined if one of them may accept the object later. */
async function atRequired({ terms }: UploadContext, puts: readonly Put[]): Promise<Delivery[] | undefined> {
  const required = puts.filter(({ destination }) => destination.required)
  const stored = Promise.all(
    required.map(async ({ destination: { dataStoreId }, storing }) => ({
      dataStoreId,
      ...(await storing).delivered,
    })),
  )
  const answer = await within(terms.assembleMs, stored).catch((error: unknown) => {
    if (classify(error, 'put').verdict === 'keep in tail') return 'late' as const
    throw error
  })
  return answer === 'late' ? undefined : answer
}

function record(
  { db, clock }: UploadContext,
  { lease, progress }: Upload,
  parts: Parts,
  { toBytes, crc32, deliveries }: { toBytes: number; crc32: number; deliveries: readonly Delivery[] },
): Promise<void> {
  const change = { fromBytes: progress.offsetBytes, toBytes, crc32, foundType: parts.foundType }
  const recording = () => recordPut(db, lease, change, deliveries, clock.now())
  return parts.recordWhole({ offsetBytes: toBytes, crc32 }, () => lease.whileHeld(recording()))
}

/** The attempts at best-effort destinations, which may continue after the required ones have finished. */
function triesOf(
  context: UploadContext,
  { fileId, lease, progress }: Upload,
  puts: readonly Put[],
  over: AbortController,
): Try[] {
  return puts
    .filter(({ destination }) => !destination.required)
    .map(({ destination, storing }) => {
      const attempt = { fileId, lease, lengthBytes: progress.lengthBytes, destination, sentBefore: false }
      const judging = (signal: AbortSignal) => {
        signal.addEventListener('abort', () => over.abort(), { once: true })
        return judge(context, attempt, 'put', storing)
      }
      return { destination, judging }
    })
}
