import { days } from '../../platform/kernel/clock.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { attemptsOf, type BucketFaultKind, bucketFault } from '../bucket-port.ts'
import type { Failure } from './file-status.ts'

/**
 * What is done about a fault.
 *
 * - `keep in tail`: the bucket may accept the bytes later, so those in memory are stored as a tail. If there are none,
 *   as `release`.
 * - `release`: nothing is decided. The client resumes the upload, or the reconciler tries again: for 24 hours, and then
 *   once more. What was to be cleared is cleared later.
 * - `look up`: the bucket no longer knows the multipart upload, but the object may exist. Unless the bucket says so or
 *   denies it, nobody knows, and the file fails as such.
 * - `compare`: the bucket has an object under the key, which belongs to this file alone. Only its size may be wrong.
 * - `infer`: the object is there, by what the bucket said, and the credentials may not look at it.
 * - `unknown`: the bucket will not say whether the object exists, now or later.
 * - `fail`: no change by anybody could make this succeed. The file fails at once, with the reason.
 */
export type Verdict = 'keep in tail' | 'release' | 'look up' | 'compare' | 'infer' | 'unknown' | 'fail'

/**
 * What was tried: a `part` or a single `put` while the client waits; or, with every byte durable, the `last part` from
 * the tail, the Complete, or the `join` of other objects; a `look up` of the object, or a `clear` of what is left.
 */
export type Step = 'part' | 'put' | 'last part' | 'complete' | 'join' | 'look up' | 'clear'

/**
 * Whose fault it is: another writer that took the lease is a `rival`, and `end` means that the upload has ended. `us`: a
 * fault elsewhere in the installation, such as an unreachable database.
 */
export type Blame = 'bucket' | 'client' | 'rival' | 'end' | 'us'

export type Fault = {
  verdict: Verdict
  /** Whether the request may have taken effect, or one before it whose outcome is not known. */
  effect: 'none' | 'possible'
  blame: Blame
}

/** `damaged`: the bytes were corrupted on their way. `other`: not a fault of the bucket. */
type Kind = BucketFaultKind | 'damaged' | 'other'

const always = (verdict: Verdict): Record<Step, Verdict> => ({
  part: verdict,
  put: verdict,
  'last part': verdict,
  complete: verdict,
  join: verdict,
  'look up': verdict,
  clear: verdict,
})

const TABLE: Record<Kind, Record<Step, Verdict>> = {
  // A transient error.
  trouble: { ...always('release'), part: 'keep in tail', put: 'keep in tail' },
  // Somebody may fix the cause: credentials, a policy, the bucket itself. To a lookup, S3 responds in the same way if the
  // object is missing and the credentials may not list the bucket. What may not be cleared is left to the lifecycle rule.
  refused: { ...always('release'), 'look up': 'unknown', clear: 'fail' },
  // Bytes that are sent again may arrive intact; recorded parts stay as they are.
  damaged: { ...always('release'), complete: 'fail', join: 'fail', clear: 'fail' },
  // A join starts over each time, and a PutObject has no multipart upload.
  no_such_upload: {
    ...always('look up'),
    put: 'release',
    join: 'release',
    'look up': 'release',
    clear: 'fail',
  },
  // A PutObject that meets an object reports it as a success.
  exists: { ...always('release'), complete: 'compare', join: 'compare', clear: 'fail' },
  // While the client is still sending, the customer may correct the Pipe or the Data Store.
  impossible: { ...always('fail'), part: 'release', 'look up': 'release' },
  aborted: always('release'),
  other: { ...always('release'), clear: 'fail' },
}

/** A response of these kinds to the only attempt proves that it had no effect. */
const WITHOUT_EFFECT = new Set<Kind>(['refused', 'impossible', 'damaged'])

/**
 * Lifecycle rules count whole days from the beginning of a multipart upload, and no provider drops one sooner by itself.
 * So one that has vanished earlier was completed, unless somebody aborted it by hand.
 */
const NEVER_DROPPED_BEFORE_MS = days(1)

type Attempts = {
  /** An earlier attempt at the object, of unknown outcome, may have made it. */
  sentBefore?: boolean
  /** How long ago the upload was created. */
  ageMs?: number
  /** The credentials may look objects up. */
  mayRead?: boolean
}

/**
 * Judges a fault on the way of an upload: what to do about it, what may have happened all the same, and whose fault it
 * is. Nothing else decides this.
 */
export function classify(error: unknown, step: Step, attempts: Attempts = {}): Fault {
  const { sentBefore = false, ageMs = Number.POSITIVE_INFINITY, mayRead = true } = attempts
  const cause = isSluiceError(error) && bucketFault(error.cause) ? error.cause : error
  const kind = kindOf(cause)
  const wasRepeated = sentBefore || attemptsOf(cause) > 1
  const wasCompleted = kind === 'no_such_upload' && wasRepeated && ageMs < NEVER_DROPPED_BEFORE_MS
  const isThere = step === 'complete' && (kind === 'exists' || wasCompleted)
  // As long as its last part is missing, nobody has asked for the object.
  const isCertain = step === 'last part' ? !sentBefore : WITHOUT_EFFECT.has(kind) && !wasRepeated
  return {
    verdict: isThere && !mayRead ? 'infer' : TABLE[kind][step],
    effect: isCertain ? 'none' : 'possible',
    blame: blameFor(error, kind),
  }
}

function kindOf(error: unknown): Kind {
  const kind = bucketFault(error)
  if (kind === 'impossible' && (error as { code?: string }).code === 'BadDigest') return 'damaged'
  return kind ?? 'other'
}

function blameFor(error: unknown, kind: Kind): Blame {
  if (kind === 'aborted') return 'us'
  if (kind !== 'other') return 'bucket'
  if (!isSluiceError(error) || error.status >= 500) return 'us'
  if (error.code === 'upload_locked') return 'rival'
  return error.code === 'upload_gone' ? 'end' : 'client'
}

/** Why a destination of best effort was given up. What may pass by itself is another reason than what the bucket refused. */
export function failureOf(fault: unknown): Failure {
  const kind = kindOf(fault)
  const reason = kind === 'trouble' || kind === 'aborted' ? 'unavailable' : 'rejected'
  return { reason, detail: (fault as Error).message }
}

/** What the client is told: of a fault of the bucket in the words of the bucket, without secrets. */
export function errorForClient(error: unknown): unknown {
  const kind = bucketFault(error)
  if (!kind || isSluiceError(error)) return error
  const again = kind === 'trouble' ? { headers: { 'Retry-After': '5' } } : {}
  return new SluiceError('bucket_refused', (error as Error).message, { cause: error, ...again })
}
