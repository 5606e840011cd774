import { type BucketFaultKind, bucketFault } from '../bucket-port.ts'

/**
 * What to do about each fault at each step on the way to the object. Nothing else decides this.
 *
 * - `keep in tail`: the bucket may accept the bytes later, so those in memory are stored as a tail. If there are none,
 *   as `release`.
 * - `release`: the upload stays as it is. Its client resumes it, or the reconciler tries again: for 24 hours, and then
 *   once more.
 * - `look up`: the bucket no longer knows the multipart upload, but the object may exist.
 * - `fail`: no change by anybody could make this succeed. The file fails at once, with the reason.
 */
export type Verdict = 'keep in tail' | 'release' | 'look up' | 'fail'

/** `part`: the client may still be sending. `lastPart`: sent from the tail, with every byte durable already. */
export type Step = 'part' | 'put' | 'lastPart' | 'complete' | 'join'

/** `damaged`: the bytes were corrupted on their way. `other`: a fault elsewhere, such as an unreachable database. */
type Fault = BucketFaultKind | 'damaged' | 'other'

const always = (verdict: Verdict): Record<Step, Verdict> => ({
  part: verdict,
  put: verdict,
  lastPart: verdict,
  complete: verdict,
  join: verdict,
})

const TABLE: Record<Fault, Record<Step, Verdict>> = {
  // A transient error.
  trouble: { ...always('release'), part: 'keep in tail', put: 'keep in tail' },
  // Somebody may fix the cause: credentials, a policy, the bucket itself.
  refused: always('release'),
  // Bytes that are sent again may arrive intact; recorded parts stay as they are.
  damaged: { ...always('release'), complete: 'fail', join: 'fail' },
  // A join starts over each time, and a PutObject has no multipart upload.
  no_such_upload: { ...always('look up'), put: 'release', join: 'release' },
  // An earlier attempt may have made the object. Complete has then looked it up already; otherwise the next attempt does.
  exists: always('release'),
  // While the client is still sending, the customer may correct the Pipe or the Data Store.
  impossible: { ...always('fail'), part: 'release' },
  aborted: always('release'),
  other: always('release'),
}

export function verdictOn(step: Step, error: unknown): Verdict {
  return TABLE[faultOf(error)][step]
}

function faultOf(error: unknown): Fault {
  const kind = bucketFault(error)
  if (kind === 'impossible' && (error as { code?: string }).code === 'BadDigest') return 'damaged'
  return kind ?? 'other'
}
