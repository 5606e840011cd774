import { crc32 } from 'node:zlib'
import { concatenate } from '../concatenation/concatenate.ts'
import { readPartials } from '../concatenation/partials.ts'
import { contentTypeOf } from '../media-types/content-type.ts'
import { HEAD_BYTES, judgeContent } from '../media-types/judge-content.ts'
import { hours } from '../platform/kernel/clock.ts'
import { within } from '../platform/kernel/waits.ts'
import { withMemory } from '../upload-memory/memory-budget.ts'
import type { Bucket } from '../uploads/bucket-port.ts'
import { mismatch } from '../uploads/finish/content-guard.ts'
import {
  type Attempt,
  assemble,
  type Judged,
  judge,
  judgeAtLast,
  judgeFault,
  storedByPut,
} from '../uploads/finish/create-object.ts'
import { type Outcome, settle } from '../uploads/finish/settle.ts'
import type { Lease } from '../uploads/lease/held-lease.ts'
import type { Claim } from '../uploads/ledger/lease-terms.ts'
import { recordLastPart } from '../uploads/ledger/part-rows.ts'
import { readTail } from '../uploads/ledger/tail-rows.ts'
import type { StoredObject } from '../uploads/ledger/transferred.ts'
import { openBucketOf } from '../uploads/opening/open-bucket-of.ts'
import { CHECKSUM_MISMATCH, checksumMismatch } from '../uploads/rules/checksums.ts'
import { beginMultipart } from '../uploads/stream/begin-multipart.ts'
import { busyWith, inBackground, type UploadContext } from '../uploads/upload-context.ts'
import { type Claimed, type ClaimedDestination, claimTransferring } from './claim-transferring.ts'

/** A file that has no object this long after its last byte gets one more attempt, and then fails. */
const GIVE_UP_AFTER_MS = hours(24)
/** How many files one node works on at the same time. */
const AT_ONCE = 32
const AT_ONCE_PER_BUCKET = 4

/**
 * Creates the objects of files whose bytes are all durable. (Other interrupted uploads are resumed by their clients:
 * see takeLease.) An attempt holds the file's lease, so only one node works on it. Returns how many attempts were
 * started.
 */
export async function reconcileUploads(context: UploadContext): Promise<number> {
  const { db, clock, leases, terms } = context
  const busy = busyWith(context, 'reconcile')
  if (busy.length >= AT_ONCE) return 0
  const claim = leases.newClaim()
  const claimed = await claimTransferring(db, claim, {
    limit: AT_ONCE - busy.length,
    limitPerBucket: AT_ONCE_PER_BUCKET,
    nowMs: clock.now(),
    busy,
  })
  // A bucket that does not respond must not delay files in other buckets.
  const attempts = claimed.map((file) =>
    inBackground(context, reconcile(context, { ...file, ...claim }), {
      kind: 'reconcile',
      of: firstOpen(file).dataStore.id,
    }),
  )
  await within(terms.reconcileMs, Promise.all(attempts))
  return claimed.length
}

async function reconcile(context: UploadContext, file: Claimed & Claim): Promise<void> {
  const { fileId } = file
  const lease = context.leases.adopt({ ...file, rowId: fileId })
  try {
    const outcome = isOver(file)
      ? await settleEach(context, file, { lease, places: openPlaces(context, file) }, judgeAtLast)
      : await makeObject(context, file, lease)
    if (outcome.kind === 'lagging') await outcome.concluded
  } catch (error) {
    context.log.warn({ err: error, fileId }, 'could not create the object; will retry')
  } finally {
    await lease.release({ interrupted: false })
  }
}

/**
 * True if the previous attempt was already past the deadline, so that there is one late attempt even after a long
 * Sluice outage.
 */
function isOver({ sinceMs, lastAttemptMs }: Claimed): boolean {
  return lastAttemptMs !== null && lastAttemptMs - sinceMs > GIVE_UP_AFTER_MS
}

/** The destination whose bucket a claim counts against, for the limit of simultaneous claims per bucket. */
function firstOpen({ destinations }: Claimed): ClaimedDestination {
  return destinations.find(({ isOpen }) => isOpen) ?? destinations[0]!
}

type Place = ReturnType<typeof place>

/** The bucket is opened only when used: a file must end even if the credentials can no longer be decrypted. */
function place(context: UploadContext, destination: ClaimedDestination) {
  const { dataStore } = destination
  const open = () => openBucketOf(context, destination)
  const headObject: Bucket['headObject'] = async (...asked) => open().headObject(...asked)
  return {
    ...destination,
    dataStoreId: dataStore.id,
    mayRead: dataStore.mayRead,
    bucket: { headObject },
    open,
  }
}

/** The destinations that have no object yet and have not been abandoned. */
function openPlaces(context: UploadContext, { destinations }: Claimed): Place[] {
  return destinations.filter(({ isOpen }) => isOpen).map((one) => place(context, one))
}

type Open = { lease: Lease; places: readonly Place[] }

/** Makes one attempt at each of these places, and records what became of the file. */
function settleEach(
  context: UploadContext,
  { fileId, sentBefore, bytes: lengthBytes }: Claimed,
  { lease, places }: Open,
  judging: (attempt: Attempt & { destination: Place }) => Promise<Judged>,
): Promise<Outcome> {
  return settle(context, { fileId, lease, lengthBytes, sentBefore }, places, judging)
}

/** Makes one attempt to create the objects of a file whose lease is held. The lease is always released. */
export async function makeObject(context: UploadContext, file: Claimed, lease: Lease): Promise<Outcome> {
  if (file.concat === 'final') return joinAgain(context, file, lease)
  const open = { lease, places: openPlaces(context, file) }
  // The length was declared after the last byte, by a request that ended before it could compare the checksums.
  if (checksumMismatch(file.declared, file))
    return settleEach(context, file, open, async () => ({
      kind: 'failed',
      end: CHECKSUM_MISMATCH,
      error: undefined,
    }))
  const account = context.budget.account(openBucketOf(context, firstOpen(file)))
  const memory = { bytes: file.tailBytes, signal: lease.signal }
  const isWhole = file.destinations.every(({ multipartId }) => multipartId === null)
  if (isWhole) return withMemory(account, memory, () => putFromTail(context, file, open))
  const faults =
    file.tailBytes > 0
      ? await withMemory(account, memory, () => sendLastPart(context, file, open.places, lease))
      : new Map<string, unknown>()
  const isMissing = open.places.some((one) => one.required && faults.has(one.dataStoreId))
  return settleEach(context, file, open, async (attempt): Promise<Judged> => {
    const { destination } = attempt
    const { dataStoreId } = destination
    if (faults.has(dataStoreId)) return judgeFault(context, attempt, 'last part', faults.get(dataStoreId))
    if (isMissing) return { kind: 'left', refusal: undefined, isCertain: !file.sentBefore }
    const { fileId, bytes, crc32, sentBefore } = file
    const target = { key: destination.key, contentType: contentTypeOf(file.filetype), object: file.object }
    const at = { ...destination, bucket: destination.open(), target }
    const assembly = { fileId, lease, bytes, crc32, sentBefore, destination: at }
    return judge(context, attempt, 'complete', assemble(context, assembly, attempt.lease.signal))
  })
}

/** Starts over, because nothing from an earlier attempt is visible. */
async function joinAgain(context: UploadContext, file: Claimed, lease: Lease): Promise<Outcome> {
  const { fileId, destinations, object } = file
  const contentType = contentTypeOf(file.filetype)
  return concatenate(context, {
    fileId,
    lease,
    partials: await readPartials(context.db, file.concatParts ?? []),
    places: destinations
      .filter(({ isOpen }) => isOpen)
      .map((one) => ({
        dataStoreId: one.dataStore.id,
        required: one.required,
        mayRead: true,
        bucket: openBucketOf(context, one),
        target: { key: one.key, contentType, object },
        leftMultipartId: one.multipartId,
      })),
  })
}

/**
 * Stores a single-part file that was not accepted by every required bucket when it arrived. If all of them accepted it,
 * the bytes are not in the database, and the best-effort destinations have failed.
 */
async function putFromTail(context: UploadContext, file: Claimed, open: Open): Promise<Outcome> {
  const { bytes, crc32, filetype, object, fileId, tailBytes } = file
  const chunks = await readTail(context, fileId)
  const put = async ({ key, open: openBucket }: Place, signal: AbortSignal): Promise<StoredObject> => {
    open.lease.assertHeld()
    const target = { key, contentType: contentTypeOf(filetype), object }
    // The request is marked as repeated, because the first attempt may have reached the bucket.
    const bucket = openBucket()
    const result = await bucket.putObject(target, { chunks, bytes, crc32 }, { signal, repeated: true })
    context.checkpoint('object put')
    return storedByPut(bucket, target, result)
  }
  const found = await foundInstead(file, chunks)
  return settleEach(context, file, open, async (attempt): Promise<Judged> => {
    const { destination } = attempt
    if (found) return { kind: 'failed', end: mismatch(found), error: undefined }
    if (tailBytes !== bytes && !destination.required)
      return { kind: 'failed', end: { reason: FELL_BEHIND }, error: undefined }
    return judge(context, attempt, 'put', put(destination, attempt.lease.signal))
  })
}

/**
 * Returns the actual type of a short file if it does not match the declared type. Its length may have been declared
 * after the last byte, by a request that ended before it could check the type.
 */
async function foundInstead(
  { verifyContent, filetype, bytes, tailBytes }: Claimed,
  chunks: readonly Buffer[],
): Promise<string | undefined> {
  if (!verifyContent || tailBytes !== bytes) return undefined
  const head = Buffer.concat(chunks).subarray(0, HEAD_BYTES)
  const { found, fits } = await judgeContent(head, { declared: filetype, isWhole: bytes <= HEAD_BYTES })
  return fits ? undefined : found
}

const FELL_BEHIND = 'The node died before this destination had the object.'

type FullPlace = ClaimedDestination & { dataStoreId: string; open(): Bucket }

/**
 * Sends the last part, whose bytes are in the tail, to each destination, and records it once every required one has
 * it. Every attempt sends the same bytes under the same number. Returns the faults by destination.
 */
export async function sendLastPart(
  context: UploadContext,
  file: Claimed,
  destinations: readonly FullPlace[],
  lease: Lease,
): Promise<ReadonlyMap<string, unknown>> {
  const { db, checkpoint, terms } = context
  const chunks = await readTail(context, file.fileId)
  const number = file.tailPartNumber
  const crc = chunks.reduce((sum, chunk) => crc32(chunk, sum), 0)
  const body = { chunks, bytes: file.tailBytes, crc32: crc }
  const faults = new Map<string, unknown>()
  const etags: (string | null)[] = file.destinations.map(() => null)
  lease.assertHeld()
  const send = async (place: FullPlace) => {
    const { key, position, dataStoreId } = place
    try {
      place.multipartId ??= await beginLate(context, file, place, lease)
      const part = { key, multipartId: place.multipartId, number }
      const { etag } = await place.open().uploadPart(part, body, { signal: lease.signal })
      etags[position - 1] = etag
      checkpoint('part sent')
    } catch (fault) {
      faults.set(dataStoreId, fault)
    }
  }
  const required = destinations.filter((place) => place.required)
  const others = destinations.filter((place) => !place.required).map(send)
  await Promise.all(required.map(send))
  if (others.length > 0) await within(terms.trailMs, Promise.all(others))
  if (required.some(({ dataStoreId }) => faults.has(dataStoreId))) return faults
  const offsetBytes = file.bytes - file.tailBytes
  const part = { number, offsetBytes, sizeBytes: file.tailBytes, etags: [...etags], crc32: crc }
  await recordLastPart(db, lease, part)
  checkpoint('part recorded')
  return faults
}

/**
 * Starts the multipart upload at a destination that has none even though others do: a node died after starting only
 * some of them, or this bucket was down. No part is recorded, so the tail is the entire file.
 */
function beginLate(
  context: UploadContext,
  { filetype, object }: Claimed,
  { key, dataStoreId, open }: FullPlace,
  lease: Lease,
): Promise<string> {
  const target = { key, contentType: contentTypeOf(filetype), object }
  return beginMultipart(context, { bucket: open(), target, dataStoreId, lease })
}
