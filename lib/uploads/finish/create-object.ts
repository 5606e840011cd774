import { uuidv7Ms } from '../../platform/kernel/ids.ts'
import { pause } from '../../platform/kernel/waits.ts'
import type { Bucket, PutResult, SentPart, Target } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { readParts } from '../ledger/part-rows.ts'
import type { StoredObject } from '../ledger/transferred.ts'
import type { Destination } from '../opening/upload.ts'
import { classify, errorForClient, type Step } from '../rules/faults.ts'
import type { UploadContext } from '../upload-context.ts'

/** One attempt to create an object at one destination, and how its outcome is judged. Nothing is recorded here. */

/** A file whose bytes are all in parts, ready to become an object at one destination. */
export type Assembly = {
  fileId: string
  lease: Lease
  /** `multipartId` is null while a best-effort destination lags behind with its first part. */
  destination: { bucket: Bucket; target: Target; position: number; readonly multipartId: string | null }
  bytes: number
  crc32: number
  /** The bucket may already have created the object, in an attempt with an unknown outcome. */
  sentBefore: boolean
}

/**
 * Makes one attempt to create the object from the parts. `complete_sent_at` is committed before this is called, so
 * after a crash at any point, the reconciler finds a `transferring` file.
 */
export async function assemble(
  context: UploadContext,
  { fileId, lease, destination, bytes, crc32, sentBefore }: Assembly,
  signal: AbortSignal,
): Promise<StoredObject> {
  const { bucket, target } = destination
  const parts = await lease.whileHeld(acknowledgedParts(context, fileId, destination, signal))
  lease.assertHeld()
  const upload = { ...target, multipartId: destination.multipartId! }
  const options = { signal, repeated: sentBefore }
  const completed = await bucket.completeMultipart(upload, { parts, bytes, crc32 }, options)
  context.checkpoint('complete answered')
  return { ...completed, certainty: 'answered' }
}

/**
 * Required destinations have acknowledged each recorded part; for best-effort ones, this waits for the last parts.
 */
async function acknowledgedParts(
  { db, terms }: UploadContext,
  fileId: string,
  destination: Assembly['destination'],
  signal: AbortSignal,
): Promise<SentPart[]> {
  for (;;) {
    const parts = await readParts(db, fileId, destination.position)
    if (destination.multipartId && parts.every(isAcknowledged)) return parts
    await pause(terms.pollMs, signal)
    signal.throwIfAborted()
  }
}

const isAcknowledged = (part: { etag: string | null }): part is SentPart => part.etag !== null

/** What is known about an object after the response to its PutObject. */
export function storedByPut(
  bucket: Pick<Bucket, 'storageOf'>,
  { object }: Pick<Target, 'object'>,
  { etag, isFound }: PutResult,
): StoredObject {
  const certainty = etag === null ? 'inferred' : isFound ? 'confirmed' : 'answered'
  return { etag, certainty, storage: bucket.storageOf(object) }
}

/** An object to be created at one destination. */
type Wanted = {
  fileId: string
  lengthBytes: number | null
  destination: Pick<Destination, 'key' | 'mayRead'> & { bucket: Pick<Bucket, 'headObject'> }
  /** Aborts the attempt when the file's lease is lost. */
  lease: { readonly signal: AbortSignal }
}

/** An attempt to create the object, perhaps after earlier ones. */
export type Attempt = Wanted & {
  /** An earlier attempt with an unknown outcome may have created the object. */
  sentBefore: boolean
}

/**
 * How a file without an object ends. `refusedContent` is the actual type of its first bytes, if the file was refused
 * because of it. In that case, none of its bytes are kept.
 */
export type End = { reason: string; certainty?: 'unknown'; refusedContent?: string }

/**
 * The outcome of an attempt, before any of it is recorded. `left`: nothing is decided, and there will be another
 * attempt. Without a `refusal`, the object was not requested yet, because another destination is not ready for it.
 */
export type Judged =
  | { kind: 'stored'; object: StoredObject }
  | { kind: 'left'; refusal: unknown; isCertain: boolean }
  | { kind: 'failed'; end: End; error: unknown }

/** Waits for the object to be created, and judges the outcome. */
export async function judge(
  context: Pick<UploadContext, 'clock' | 'log'>,
  attempt: Attempt,
  step: Step,
  storing: Promise<StoredObject>,
): Promise<Judged> {
  try {
    return { kind: 'stored', object: await storing }
  } catch (fault) {
    return judgeFault(context, attempt, step, fault)
  }
}

/** Like `judge`, for an attempt that has already failed. */
export async function judgeFault(
  { clock, log }: Pick<UploadContext, 'clock' | 'log'>,
  attempt: Attempt,
  step: Step,
  fault: unknown,
): Promise<Judged> {
  const { fileId, sentBefore, destination } = attempt
  log.warn({ err: fault, fileId, step }, 'could not create the object')
  const ageMs = clock.now() - uuidv7Ms(fileId)
  const { remedy, effect } = classify(fault, step, { sentBefore, ageMs, mayRead: destination.mayRead })
  const leave = (refusal: unknown): Judged => ({ kind: 'left', refusal, isCertain: effect === 'none' })
  switch (remedy) {
    case 'look up':
      return judgeByLookingUp(attempt, fault).catch(leave)
    case 'compare':
      return judgeExisting(attempt).then((judged) => judged ?? leave(fault), leave)
    case 'infer':
      return { kind: 'stored', object: { etag: null, certainty: 'inferred' } }
    case 'fail':
      return { kind: 'failed', end: { reason: (fault as Error).message }, error: errorForClient(fault) }
    default:
      return leave(fault)
  }
}

/** For an object that already exists. Undefined if it is not the file's object, or cannot be looked up. */
async function judgeExisting(attempt: Attempt): Promise<Judged | undefined> {
  const object = await lookUp(attempt)
  return object !== 'unknown' && object?.bytes === attempt.lengthBytes ? confirmed(object!) : undefined
}

/**
 * For a multipart upload that the bucket no longer has: either it was dropped, or the object was created without the
 * database knowing. If the credentials allow reading, the object is looked up; otherwise the file fails as `unknown`.
 * Throws if the bucket cannot currently tell what happened.
 */
export async function judgeByLookingUp(wanted: Wanted, fault: unknown): Promise<Judged> {
  return judgeFound(wanted, await lookUp(wanted), IF_DROPPED, errorForClient(fault))
}

/**
 * Judges the outcome after the last attempt. Regardless of the bucket's response, an earlier attempt may have created
 * the object.
 */
export async function judgeAtLast(attempt: Attempt): Promise<Judged> {
  if (!attempt.sentBefore) return judgeFound(attempt, undefined, LATE, undefined)
  // The outcome is only unknown if the bucket does not respond. After a fault in the ledger, there is another attempt.
  const found = await lookUp(attempt).catch(() => 'unknown' as const)
  return judgeFound(attempt, found, LATE, undefined)
}

const confirmed = ({ etag }: { etag: string | null }): Judged => ({
  kind: 'stored',
  object: { etag, certainty: 'confirmed' },
})

/** Undefined if there is no object. */
type LookedUp = Awaited<ReturnType<Bucket['headObject']>> | 'unknown'

async function lookUp({ destination: { bucket, key, mayRead }, lease }: Wanted): Promise<LookedUp> {
  if (!mayRead) return 'unknown'
  try {
    return await bucket.headObject(key, { signal: lease.signal })
  } catch (error) {
    if (classify(error, 'look up').remedy === 'unknown') return 'unknown'
    throw error
  }
}

function judgeFound(
  { destination, lengthBytes }: Wanted,
  found: LookedUp,
  { missing, unknown }: Reasons,
  error: unknown,
): Judged {
  if (found && found !== 'unknown' && found.bytes === lengthBytes) return confirmed(found)
  const end: End =
    found === undefined
      ? { reason: missing }
      : { reason: `${unknown} ${destination.key}`, certainty: 'unknown' }
  return { kind: 'failed', end, error }
}

type Reasons = { missing: string; unknown: string }
const DROPPED = 'The bucket has dropped the unfinished multipart upload.'
const IF_DROPPED: Reasons = {
  missing: DROPPED,
  unknown:
    'The bucket no longer has the multipart upload. It may have been dropped or completed: look for the object',
}
const LATE: Reasons = {
  missing: 'The bucket has not accepted the object within 24 hours.',
  unknown: 'The bucket did not confirm the object for 24 hours. The bucket may have it: look for the object',
}
