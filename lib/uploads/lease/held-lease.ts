import type { Clock } from '../../platform/kernel/clock.ts'
import { lostLease } from '../ledger/advance.ts'
import type { Fenced } from '../ledger/lease-terms.ts'
import type { Release } from '../ledger/release-lease.ts'
import type { UploadTerms } from '../upload-terms.ts'

/** A lease of this process: until when it holds, and when its holder is told to stop. */
export type Lease = Fenced & {
  /** Fires when it was lost, or could not be renewed in time. */
  readonly signal: AbortSignal
  /** Somebody else waits for it. */
  readonly wanted: boolean
  /** Throws if the time of the lease is up; called before anything goes to the bucket. */
  assertHeld(): void
  /** Bytes came. */
  touch(): void
  /** What to do when the holder should stop; at once, if it should already. */
  onStop(stop: (why: StopReason) => void, body?: LeasedBody): void
  /** Rejects when the lease is lost before `work` is done. */
  whileHeld<Result>(work: Promise<Result>): Promise<Result>
  /** Releases the lease in its row, if that was not done already, and here. */
  release(end: Release): Promise<void>
  /** Another statement has released the lease in its row, or it is lost: forget it here. */
  forget(): void
}

export type LeasedBody = {
  /** It counts entirely or not at all, so its turn lasts until it ends, within bounds. */
  atomic: boolean
  /** It is silent because we do not read it. */
  waitsForUs(): boolean
}

export type StopReason = 'preempted' | 'draining'

export type HeldLease = Lease & {
  ask(why: StopReason): void
  /** Old enough to be renewed. One that was lost here must lapse in the database, too: its writer does nothing more with it. */
  isDue(): boolean
  /** True if that was late. */
  renewed(sentAtMs: number): boolean
  lose(): void
  watch(): void
  readonly ended: Promise<void>
}

/** One that came after twice the time is late: half of what keeps the lease from lapsing is gone. */
const LATE_RENEWALS = 2

type LeaseDeps = {
  clock: Clock
  terms: UploadTerms
  forget(): void
  releaseRow(end: Release): Promise<void>
}

export function createHeldLease(
  { fileId, fence }: Fenced,
  sinceMs: number,
  { clock, terms, forget, releaseRow }: LeaseDeps,
): HeldLease {
  const lost = new AbortController()
  const { promise: ended, resolve: nowEnded } = Promise.withResolvers<void>()
  let renewedMs = sinceMs
  let untilMs = sinceMs + terms.leaseMs - terms.marginMs
  let touchedMs = sinceMs
  let asked: StopReason | undefined
  let askedMs = 0
  let told = false
  let isOver = false
  let stop: ((why: StopReason) => void) | undefined
  let body: LeasedBody = { atomic: false, waitsForUs: () => false }
  let timer: NodeJS.Timeout | undefined

  const tell = (listened = false) => {
    if (!asked || told || !stop) return
    const now = clock.now()
    const quietMs = body.atomic ? terms.atomicQuietMs : terms.quietMs
    const turnLeftMs = (body.atomic ? sinceMs + terms.atomicTurnMs : askedMs + terms.turnMs) - now
    const flowing = now - touchedMs < quietMs || body.waitsForUs()
    if (asked === 'preempted' && flowing && turnLeftMs > 0) {
      timer = setTimeout(tell, Math.min(turnLeftMs, quietMs))
      return
    }
    // A process that is behind hears its timers, and other requests, before the bytes that are here already.
    if (asked === 'preempted' && !listened) return void setImmediate(tell, true)
    told = true
    stop(asked)
  }
  const over = () => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    told = true
    nowEnded()
    forget()
  }
  return {
    fileId,
    fence,
    signal: lost.signal,
    ended,
    get wanted() {
      return asked === 'preempted'
    },
    assertHeld() {
      if (clock.now() >= untilMs) lost.abort(lostLease())
      if (lost.signal.aborted) throw lostLease()
    },
    touch() {
      touchedMs = clock.now()
    },
    onStop(callback, inTurn = body) {
      stop = callback
      body = inTurn
      tell()
    },
    ask(why) {
      if (!asked) askedMs = clock.now()
      asked = asked === 'draining' ? asked : why
      clearTimeout(timer)
      tell()
    },
    // Most are short, and never come to it.
    isDue() {
      const ageMs = clock.now() - renewedMs
      // Below zero the clock was set back.
      return !lost.signal.aborted && (ageMs < 0 || ageMs >= terms.renewMs / 2)
    },
    renewed(sentAtMs) {
      // The answer to an older renewal came late.
      if (sentAtMs < renewedMs && renewedMs <= clock.now()) return false
      const late = sentAtMs - renewedMs > LATE_RENEWALS * terms.renewMs
      renewedMs = sentAtMs
      untilMs = sentAtMs + terms.leaseMs - terms.marginMs
      return late
    },
    lose() {
      lost.abort(lostLease())
    },
    watch() {
      if (clock.now() >= untilMs) lost.abort(lostLease())
    },
    whileHeld(work) {
      return whileNotAborted(work, lost.signal)
    },
    async release(end) {
      if (isOver) return
      try {
        await releaseRow(end)
      } finally {
        over()
      }
    },
    forget: over,
  }
}

function whileNotAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
