import { minutes, seconds } from '../platform/kernel/clock.ts'

/** Every time and bound of the data plane, in one place, so that tests can shorten them. */
export type UploadTerms = {
  /** A lease that is not renewed for so long may be taken over. */
  leaseMs: number
  renewMs: number
  /** Nothing is sent or written in the last stretch of a lease. */
  marginMs: number
  /** A newcomer waits so long for the holder to let go, then gets 423. The clients wait for HEAD ten seconds at most. */
  waitMs: number
  /** How often it looks by itself, should a notification be lost. */
  pollMs: number
  /** A holder whose bytes are flowing goes on so long once it is asked to stop, so that two that fight both get on. */
  turnMs: number
  /** A holder that had no byte for so long is not thought to be flowing. */
  quietMs: number
  /** An atomic body is lost when it is stopped: it keeps the lease until it ends, but no longer than this. */
  atomicTurnMs: number
  /** And it may be silent for so long. */
  atomicQuietMs: number
  partsInFlight: number
  /** A rejected body waits so long for the bucket's answers about its parts, before their numbers are used again. */
  settleMs: number
  /** The last PATCH waits so long for the object; then it is answered, since every byte is durable. */
  assembleMs: number
  /** The reconciler waits so long for what it took up; what takes longer goes on by itself. */
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
