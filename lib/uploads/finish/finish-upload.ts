import type { Db } from '../../platform/db/database.ts'
import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { within } from '../../platform/kernel/waits.ts'
import type { Body } from '../bucket-port.ts'
import { endUpload } from '../endings/end-upload.ts'
import type { Lease } from '../lease/held-lease.ts'
import { type LaneEnd, finishLane as recordLaneEnd } from '../ledger/lane-endings.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import type { Advance, advance as advanceLane } from '../ledger/offsets.ts'
import { type DoneStatus, recordPut, type StoredAt, type StoredObject } from '../ledger/transferred.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { CHECKSUM_MISMATCH, checksumMismatch, NO_CHECKSUMS } from '../rules/checksums.ts'
import { classify } from '../rules/faults.ts'
import type { PartBuffer } from '../stream/part-buffer.ts'
import type { Parts } from '../stream/parts.ts'
import { withTail } from '../stream/tails.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import { assemble, judge, storedByPut } from './create-object.ts'
import { type Outcome, settle } from './settle.ts'

/** The request was refused, or its bytes could not be stored. The lease is released. */
export type Refused = { state: 'refused'; error: unknown }
export type Finished = { state: 'transferring' | DoneStatus; offsetBytes: number } | Refused

/**
 * Stores a file whose last byte has arrived. A single-part file is stored by a PutObject at each destination; any other
 * file becomes `transferring` with its last part, and then an object. If a bucket is slow, the client gets its response
 * before the object exists, which is safe because every byte is durable.
 */
export async function finishUpload(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  if (upload.isLane) return finishLane(context, upload, parts, last)
  const hasParts = hasBegun(upload, parts)
  if (!hasParts && !upload.isGated) return putWhole(context, upload, parts, last)
  // A hook decides on the file before the object is created.
  await keep(parts, last, { hasParts, ...(upload.isGated && { release: { interrupted: false } }) })
  const { offsetBytes, crc32 } = upload.progress
  if (upload.isGated) return { offsetBytes, state: 'transferring' }
  return completeParts(context, upload, { ...fileOf(upload), lengthBytes: offsetBytes, crc32 })
}

/** Whether a bucket may have parts of the file. If not, the file is stored by a single PutObject. */
export function hasBegun({ destinations }: Upload, { sentParts }: Parts): boolean {
  return destinations.some(({ multipartId }) => multipartId !== null) || sentParts > 0
}

/** Makes the last bytes of a file durable, without creating the object yet. */
async function keep(
  parts: Parts,
  last: PartBuffer,
  { hasParts, ...end }: { hasParts: boolean; release?: { interrupted: false } },
): Promise<void> {
  if (hasParts && parts.tailBytes + last.bytes > 0) parts.send(last, { become: 'transferring', ...end })
  else void parts.storeAsTail(last, { become: 'transferring', ...end })
  await parts.recorder.recorded
}

type FullFile = { fileId: string; lease: Lease; lengthBytes: number; crc32: number; sentBefore: false }

/** Creates the objects of a file whose parts are all recorded. */
async function completeParts(context: UploadContext, upload: Upload, file: FullFile): Promise<Finished> {
  context.checkpoint('transferring')
  const completing = settle(context, file, openOf(upload), (attempt) => {
    const { destination } = attempt
    const assembly = { ...file, bytes: file.lengthBytes, destination }
    return judge(context, attempt, 'complete', assemble(context, assembly, attempt.lease.signal))
  })
  inBackground(context, completing)
  return answerOf(upload, await within(context.terms.assembleMs, completing))
}

/** Stores the last part of a lane. If all other lanes are complete, this also creates the file's object. */
async function finishLane(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  const { fileId, progress } = upload
  const claim = context.leases.newClaim()
  const ending = Promise.withResolvers<LaneEnd>()
  const failed = { status: 'failed', ...CHECKSUM_MISMATCH, from: ['uploading'] } as const
  const onMismatch = (tx: Db) => endUpload({ ...context, db: tx }, fileId, failed)
  const advance: typeof advanceLane = async (db, lease, change, nowMs) =>
    ending.resolve(await recordLaneEnd(db, lease, change, { fileId, claim, nowMs, onMismatch }))
  parts.send(last, { advance, release: { interrupted: false } })
  await parts.recorder.recorded
  const end = await ending.promise
  if (end.kind === 'mismatch') {
    const [declared, found] = [end.expected, end.found].map((crc32) => ({ ...NO_CHECKSUMS, crc32 }))
    return { state: 'refused', error: checksumMismatch(declared!, found!) }
  }
  if (end.kind === 'waiting' || end.isGated)
    return { state: 'transferring', offsetBytes: progress.offsetBytes }
  const { lengthBytes, crc32, fence } = end
  const lease = context.leases.adopt({ ...claim, rowId: fileId, fence })
  return completeParts(context, upload, { fileId, lease, lengthBytes, crc32, sentBefore: false })
}

function answerOf({ progress }: Upload, outcome: Outcome | 'late'): Finished {
  if (outcome !== 'late' && outcome.kind === 'failed') return { state: 'refused', error: outcome.error }
  const isThere = outcome !== 'late' && outcome.kind === 'transferred'
  return { offsetBytes: progress.offsetBytes, state: isThere ? outcome.status : 'transferring' }
}

/** The file as `settle` needs it. Nothing was sent to create its object before this request. */
const fileOf = ({ fileId, lease, progress: { lengthBytes } }: Upload) => ({
  fileId,
  lease,
  lengthBytes,
  sentBefore: false as const,
})

const openOf = ({ destinations }: Upload) => destinations.filter(({ isOpen }) => isOpen)

type Put = { destination: Destination; storing: Promise<StoredObject> }

/**
 * Stores a file with a PutObject at each destination, from one buffer. Nothing is confirmed before the required buckets
 * have responded: after a crash, the client sends the bytes again, and the same keys are written again. If a bucket has
 * a transient error, the bytes go to the database, and the reconciler sends them.
 */
async function putWhole(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  await parts.recorder.recorded
  const { lease, progress } = upload
  const crc32 = combineCrc32(progress.crc32, last.crc32, last.bytes)
  const toBytes = progress.offsetBytes + last.bytes
  const stored = { toBytes, crc32, hashed: last.hashed }
  const over = new AbortController()
  try {
    const puts = await beginPuts(context, upload, last, {
      crc32,
      signal: AbortSignal.any([lease.signal, over.signal]),
    })
    const required = await atRequired(context, puts)
    if (!required) {
      over.abort()
      context.log.warn({ fileId: upload.fileId }, 'bucket unavailable; object buffered in the database')
      await keep(parts, last, { hasParts: false, release: { interrupted: false } })
      return { offsetBytes: progress.offsetBytes, state: 'transferring' }
    }
    context.checkpoint('object put')
    const others = await atOnce(puts.filter(({ destination }) => !destination.required))
    const isAnyAbandoned = openOf(upload).length < upload.destinations.length
    if (others && !isAnyAbandoned)
      return await recordEverywhere(context, upload, parts, {
        ...stored,
        storedAt: [...required, ...others],
      })
    await recordRequired(context, upload, parts, { ...stored, storedAt: required })
    const lagging = openOf(upload).filter((destination) => !destination.required)
    const settling = settle(context, fileOf(upload), lagging, (attempt) => {
      attempt.lease.signal.addEventListener('abort', () => over.abort(), { once: true })
      const { storing } = puts.find(({ destination }) => destination === attempt.destination)!
      return judge(context, attempt, 'put', storing)
    })
    return answerOf(upload, await settling)
  } catch (fault) {
    over.abort()
    throw fault
  }
}

/**
 * Sends the tail, if any, and the last bytes to each destination. `crc32` was computed as the bytes arrived, so a
 * bucket refuses the object if the tail has been damaged since. The buffer is kept until every bucket has responded.
 */
async function beginPuts(
  context: UploadContext,
  upload: Upload,
  last: PartBuffer,
  { crc32, signal }: { crc32: number; signal: AbortSignal },
): Promise<Put[]> {
  const { progress } = upload
  const begun = Promise.withResolvers<Put[]>()
  const toAll = async ({ chunks, bytes }: Body) => {
    const puts = openOf(upload).map((destination) => ({
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
  return begun.promise
}

async function put(
  { lease }: Upload,
  destination: Destination,
  body: Body,
  signal: AbortSignal,
): Promise<StoredObject> {
  const { bucket, target } = destination
  lease.assertHeld()
  destination.puttingObject()
  const result = await bucket.putObject(target, body, { signal }).catch((fault: unknown) => {
    destination.failedWith(fault)
    throw fault
  })
  return storedByPut(bucket, target, result)
}

const storedAt = async ({ destination: { dataStoreId }, storing }: Put): Promise<StoredAt> => ({
  dataStoreId,
  ...(await storing),
})

/** Returns the required destinations' responses. Undefined if one of them may accept the object later. */
async function atRequired({ terms }: UploadContext, puts: readonly Put[]): Promise<StoredAt[] | undefined> {
  const required = puts.filter(({ destination }) => destination.required)
  const stored = Promise.all(required.map(storedAt))
  const answer = await within(terms.assembleMs, stored).catch((error: unknown) => {
    if (classify(error, 'put').remedy === 'keep in tail') return 'late' as const
    throw error
  })
  return answer === 'late' ? undefined : answer
}

/** Returns the best-effort destinations' responses. Undefined if one of them has none yet, or has failed. */
async function atOnce(puts: readonly Put[]): Promise<StoredAt[] | undefined> {
  if (puts.length === 0) return []
  const answer = await within(0, Promise.all(puts.map(storedAt))).catch(() => 'late' as const)
  return answer === 'late' ? undefined : answer
}

type Stored = Pick<Advance, 'toBytes' | 'crc32' | 'hashed'> & { storedAt: readonly StoredAt[] }

/** Records a file that every destination has. */
async function recordEverywhere(
  context: UploadContext,
  { lease, workspaceId, hasWebhooks, progress }: Upload,
  parts: Parts,
  stored: Stored,
): Promise<Finished> {
  const { toBytes, crc32 } = stored
  const { offsetBytes: fromBytes } = progress
  const whole = { workspaceId, lease, hasWebhooks, fromBytes, foundType: parts.recorder.foundType, ...stored }
  await parts.recorder.writeWhole({ offsetBytes: toBytes, crc32 }, async () => {
    if (!(await lease.whileHeld(context.recordWhole(whole)))) throw lostLease()
    lease.forget()
    context.metrics.uploadsFinished.inc({ status: 'transferred' })
    context.checkpoint('transferred')
  })
  return { offsetBytes: toBytes, state: 'transferred' }
}

/** Records a file that every required destination has, while a best-effort one still lacks it. */
function recordRequired(
  { db, clock }: UploadContext,
  { lease, progress }: Upload,
  parts: Parts,
  { storedAt, ...stored }: Stored,
): Promise<void> {
  const { toBytes, crc32 } = stored
  const change = { fromBytes: progress.offsetBytes, foundType: parts.recorder.foundType, ...stored }
  return parts.recorder.writeWhole({ offsetBytes: toBytes, crc32 }, () =>
    lease.whileHeld(recordPut(db, lease, change, storedAt, clock.now())),
  )
}
