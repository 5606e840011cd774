import { type BucketFaultKind, bucketFault } from './bucket-port.ts'

/**
 * What follows from each fault at each step towards the object: the one place where this is decided.
 *
 * - `keep`: the bucket may take it later, so what is in memory goes to the tail. Where nothing is, as `release`.
 * - `release`: the upload stays as it is. Its client resumes it, or the reconciler tries again for 24 hours.
 * - `look up`: the bucket no longer knows the multipart upload. The object may be there all the same.
 * - `fail`: nothing that anybody can change will make an object of this. The file fails at once, with the reason.
 */
export type Verdict = 'keep' | 'release' | 'look up' | 'fail'

/** `part`: its client may still be sending. `lastPart`: out of the tail, with every byte durable. */
export type Step = 'part' | 'put' | 'lastPart' | 'complete' | 'join'

/** `damaged`: bytes did not arrive as they were sent. `other`: not of the bucket, as a database that is away. */
type Fault = BucketFaultKind | 'damaged' | 'other'

const always = (verdict: Verdict): Record<Step, Verdict> => ({
  part: verdict,
  put: verdict,
  lastPart: verdict,
  complete: verdict,
  join: verdict,
})

const TABLE: Record<Fault, Record<Step, Verdict>> = {
  trouble: { ...always('release'), part: 'keep', put: 'keep' },
  // Somebody may mend it: credentials, a policy, the bucket itself.
  refused: always('release'),
  // Sent again, bytes may arrive whole; parts that are recorded stay what they are.
  damaged: { ...always('release'), complete: 'fail', join: 'fail' },
  // A join begins anew each time, and a PutObject has no multipart upload.
  no_such_upload: { ...always('look up'), put: 'release', join: 'release' },
  // Of a request whose first answer was lost: the next attempt looks the object up.
  exists: always('release'),
  // While bytes still come, the customer may change the Pipe or the Data Store.
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
