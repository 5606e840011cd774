import { days } from '../../platform/kernel/clock.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { attemptsOf, type BucketFaultKind, bucketFault } from '../bucket-port.ts'
import type { Failure } from './file-status.ts'

/**
 * What to do about a fault.
 *
 * - `keep in tail`: the bucket may accept the bytes later, so those in memory are stored as a tail. If there are
 *   none, this is the same as `release`.
 * - `release`: nothing is decided. The client resumes the upload, or the reconciler tries again: for 24 hours, and
 *   then once more. Pending cleanup happens later.
 * - `look up`: the bucket no longer has the multipart upload, but the object may exist. Unless the bucket confirms
 *   or denies that, the file fails as `unknown`.
 * - `compare`: the bucket has an object under the key, which belongs to this file alone. Only its size may be wrong.
 * - `infer`: according to the bucket's response, the object exists, but the credentials do not allow looking it up.
 * - `unknown`: the bucket never reveals whether the object exists.
 * - `fail`: nothing that anyone could change would make this succeed. The file fails immediately, with the reason.
 */
export type Remedy = 'keep in tail' | 'release' | 'look up' | 'compare' | 'infer' | 'unknown' | 'fail'

/**
 * What was tried: a `part` or a single `put` while the client waits; or, with every byte durable, the `last part`
 * from the tail, the Complete, or the `join` of other objects; a `look up` of the object, or a `clear` of leftovers.
 */
export type Step = 'part' | 'put' | 'last part' | 'complete' | 'join' | 'look up' | 'clear'

/**
 * Who caused the fault. `rival` is another writer that took the lease, `end` means that the upload has ended, and `us`
 * is a fault elsewhere in Sluice, such as an unreachable database.
 */
export type Blame = 'bucket' | 'client' | 'rival' | 'end' | 'us'

export type Fault = {
  remedy: Remedy
  /** Whether the request, or an earlier one with an unknown outcome, may have taken effect. */
  effect: 'none' | 'possible'
  blame: Blame
}

/** `other`: not a bucket fault. */
type Kind = BucketFaultKind | 'other'

const always = (remedy: Remedy): Record<Step, Remedy> => ({
  part: remedy,
  put: remedy,
  'last part': remedy,
  complete: remedy,
  join: remedy,
  'look up': remedy,
  clear: remedy,
})

const TABLE: Record<Kind, Record<Step, Remedy>> = {
  // A transient error.
  trouble: { ...always('release'), part: 'keep in tail', put: 'keep in tail' },
  // The customer may fix the cause. Without permission to list the bucket, S3 refuses to look up a missing object.
  refused: { ...always('release'), 'look up': 'unknown', clear: 'fail' },
  // Bytes that are sent again may arrive intact, but sending recorded parts again does not change them.
  damaged: { ...always('release'), complete: 'fail', join: 'fail', clear: 'fail' },
  // A join starts over each time, and a PutObject has no multipart upload.
  no_such_upload: {
    ...always('look up'),
    put: 'release',
    join: 'release',
    'look up': 'release',
    clear: 'fail',
  },
  // A PutObject that finds an existing object reports it as a success.
  exists: { ...always('release'), complete: 'compare', join: 'compare', clear: 'fail' },
  // While the client is still sending, the customer may correct the Pipe or the Data Store.
  impossible: { ...always('fail'), part: 'release', 'look up': 'release' },
  aborted: always('release'),
  other: { ...always('release'), clear: 'fail' },
}

/** If one of these is the response to the only attempt, that attempt had no effect. */
const WITHOUT_EFFECT = new Set<Kind>(['refused', 'impossible', 'damaged'])

/**
 * Lifecycle rules count whole days from the start of a multipart upload, and no provider drops an upload sooner. So if
 * it vanishes earlier, it was completed, unless someone aborted it manually.
 */
const NEVER_DROPPED_BEFORE_MS = days(1)

type Attempts = {
  /** An earlier attempt with an unknown outcome may have created the object. */
  sentBefore?: boolean
  /** The upload's age. */
  ageMs?: number
  /** True if the credentials allow looking up objects. */
  mayRead?: boolean
  /** True if the credentials were found to allow the cleanup, so a refusal may be temporary. */
  mayClear?: boolean
}

/**
 * Judges a fault in an upload: what to do about it, what effect the request may have had nevertheless, and who caused
 * it. No other code decides this.
 */
export function classify(error: unknown, step: Step, attempts: Attempts = {}): Fault {
  const { sentBefore = false, ageMs = Number.POSITIVE_INFINITY, mayRead = true, mayClear = false } = attempts
  const cause = isSluiceError(error) && bucketFault(error.cause) ? error.cause : error
  const kind = bucketFault(cause) ?? 'other'
  const wasRepeated = sentBefore || attemptsOf(cause) > 1
  const wasCompleted = kind === 'no_such_upload' && wasRepeated && ageMs < NEVER_DROPPED_BEFORE_MS
  const isThere = step === 'complete' && (kind === 'exists' || wasCompleted)
  const isRefusedForNow = kind === 'refused' && step === 'clear' && mayClear
  // While the last part is missing, only an earlier attempt can have sent Complete.
  const isCertain = step === 'last part' ? !sentBefore : WITHOUT_EFFECT.has(kind) && !wasRepeated
  return {
    remedy: isThere && !mayRead ? 'infer' : isRefusedForNow ? 'release' : TABLE[kind][step],
    effect: isCertain ? 'none' : 'possible',
    blame: blameFor(error, kind),
  }
}

function blameFor(error: unknown, kind: Kind): Blame {
  if (kind === 'aborted') return 'us'
  if (kind !== 'other') return 'bucket'
  if (!isSluiceError(error) || error.status >= 500) return 'us'
  if (error.code === 'upload_locked') return 'rival'
  return error.code === 'upload_gone' ? 'end' : 'client'
}

/** Why a best-effort destination was abandoned. Temporary errors get a different reason from refusals by the bucket. */
export function failureOf(fault: unknown): Failure {
  const kind = bucketFault(fault)
  const reason = kind === 'trouble' || kind === 'aborted' ? 'unavailable' : 'rejected'
  return { reason, detail: (fault as Error).message }
}

/** The error for the client. For a bucket fault, it contains the bucket's message, without secrets. */
export function errorForClient(error: unknown): unknown {
  const kind = bucketFault(error)
  if (!kind || isSluiceError(error)) return error
  const again = kind === 'trouble' ? { headers: { 'Retry-After': '5' } } : {}
  return new SluiceError('bucket_refused', (error as Error).message, { cause: error, ...again })
}
