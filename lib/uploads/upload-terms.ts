import { minutes, seconds } from '../platform/kernel/clock.ts'

/** Every time and bound of the data plane, in one place, so that tests can shorten them. */
export type UploadTerms = {
  /** A lease that was not renewed for this long may be taken over. */
  leaseMs: number
  renewMs: number
  /** Nothing is sent or written in the last stretch of a lease. */
  marginMs: number
  /** How long a newcomer waits for the holder to release the lease before it gets 423. Clients wait ten seconds for HEAD. */
  waitMs: number
  /** How often it looks by itself, should a notification be lost. */
  pollMs: number
  /** How long a holder whose bytes are flowing continues after it was asked to stop, so that two that compete both progress. */
  turnMs: number
  /** A holder that has had no byte for this long is not flowing. */
  quietMs: number
  /** An atomic body is lost when it is stopped: it keeps the lease until it ends, but no longer than this. */
  atomicTurnMs: number
  /** And it may be silent for this long. */
  atomicQuietMs: number
  partsInFlight: number
  /** How long a discarded body waits for the bucket's answers about its parts before their numbers are used again. */
  settleMs: number
  /** How long the last PATCH waits for the object before it is answered anyway: every byte is durable. */
  assembleMs: number
  /** How long the reconciler waits for the files it claimed; those that take longer continue in the background. */
  reconcileMs: number
  /** Tails of one workspace in the database: a thousand uploads may each be short of a part. */
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
  settleMs: seconds(5),
  assembleMs: seconds(30),
  reconcileMs: seconds(5),
  workspaceTailBytes: 4 * 1024 ** 3,
}
