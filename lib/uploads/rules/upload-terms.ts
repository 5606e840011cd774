import { hours, minutes, seconds } from '../../platform/kernel/clock.ts'

/** The times and limits of uploads, in one place, so that tests can shorten them. */
export type UploadTerms = {
  /**
   * A lease that has not been renewed for this long may be taken over. After kill -9, the upload stays locked for 9
   * to 15 s (15 s minus the age of the last renewal). That is longer than `waitMs`, so the first HEAD usually gets
   * 423.
   */
  leaseMs: number
  renewMs: number
  /** Nothing is sent or written once only this much of a lease is left. */
  marginMs: number
  /**
   * How long a HEAD waits for the holder to release the lease before it gets 423: clients wait ten seconds for its
   * response. A request with bytes waits for `leaseMs`.
   */
  waitMs: number
  /** How often a newcomer checks the lease, in case a notification is lost. */
  pollMs: number
  /**
   * How long a holder that is receiving bytes continues after being asked to stop, so that competing clients both make
   * progress.
   */
  turnMs: number
  /** A holder that has received nothing for this long stops immediately when asked. */
  quietMs: number
  /**
   * Stopping an atomic request discards its bytes, so such a request may keep the lease until it ends, but only for
   * this long.
   */
  atomicTurnMs: number
  /** An atomic request may be silent for this long before it is stopped. */
  atomicQuietMs: number
  partsInFlight: number
  /**
   * How long to wait for the bucket's responses to the parts of a discarded body before their numbers are used again.
   */
  lateResponseMs: number
  /** How long a best-effort destination may lag behind the required ones before it is abandoned. */
  trailMs: number
  /**
   * How long the last PATCH waits for the object. After that, it gets its response without waiting any longer, because
   * every byte is durable.
   */
  assembleMs: number
  /**
   * How long a request waits for a decision. After that, the response tells the client that the last byte is missing,
   * so the client asks again.
   */
  decideMs: number
  /** How long a file may wait after its decision was deferred. */
  deferMs: number
  /** How long the reconciler waits for its claimed files; slower ones continue in the background. */
  reconcileMs: number
  /** How many tail bytes a workspace may have: enough for a thousand uploads whose tails nearly fill a part. */
  workspaceTailBytes: number
}

export const UPLOAD_TERMS: UploadTerms = {
  leaseMs: seconds(15),
  renewMs: seconds(4),
  marginMs: seconds(2),
  waitMs: seconds(9),
  pollMs: 200,
  turnMs: seconds(2),
  quietMs: 250,
  atomicTurnMs: minutes(10),
  atomicQuietMs: seconds(2),
  partsInFlight: 3,
  lateResponseMs: seconds(5),
  trailMs: seconds(30),
  assembleMs: seconds(30),
  decideMs: seconds(20),
  deferMs: hours(24),
  reconcileMs: seconds(5),
  workspaceTailBytes: 4 * 1024 ** 3,
}
