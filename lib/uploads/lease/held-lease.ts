import type { Clock } from '../../platform/kernel/clock.ts'
import { type Fenced, lostLease } from '../ledger/lease-terms.ts'
import type { Release } from '../ledger/release-lease.ts'
import type { UploadTerms } from '../upload-terms.ts'

/** A lease of this process: until when it holds, and when its holder is told to stop. */
export type Lease = Fenced & {
  /** Fires when it was lost, or could not be renewed in time. */
  readonly signal: AbortSignal
  /** Another request is waiting for it. */
  readonly wanted: boolean
  /** Throws if the lease has expired; called before anything goes to the bucket. */
  assertHeld(): void
  /** Called when bytes have arrived. */
  touch(): void
  /** Calls `stop` when the holder should stop; at once, if it should already. */
  onStop(stop: (why: StopReason) => void, body?: LeasedBody): void
  /** Rejects when the lease is lost before `work` is done. */
  whileHeld<Result>(work: Promise<Result>): Promise<Result>
  /** Releases the lease in its row, if that was not done already, and in this process. */
  release(end: Release): Promise<void>
  /** Another statement has released the lease in its row, or it is lost: forgets it in this process. */
  forget(): void
}

export type LeasedBody = {
  /** The body counts entirely or not at all, so its turn lasts until it ends, within bounds. */
  atomic: boolean
  /** No bytes come because this process does not read them. */
  waitsForUs(): boolean
}

export type StopReason = 'preempted' | 'draining'

/** A renewal is late after twice the interval: about half the lease time is used up. */
const LATE_RENEWALS = 2

type LeaseDeps = {
  clock: Clock
  terms: UploadTerms
  /** Called when the lease is over in this process. */
  forget(lease: HeldLease): void
  releaseRow(end: Release): Promise<void>
}

export class HeldLease implements Lease {
  readonly fileId: string
  readonly fence: number
  /** Resolves when the lease is over in this process. */
  readonly ended: Promise<void>
  readonly #deps: LeaseDeps
  readonly #sinceMs: number
  readonly #lost = new AbortController()
  readonly #end: () => void
  #isOver = false
  #renewedMs: number
  #untilMs: number
  #touchedMs: number
  /** Why the holder should stop, and since when. */
  #asked: StopReason | undefined
  #askedMs = 0
  #isTold = false
  #stop: ((why: StopReason) => void) | undefined
  #body: LeasedBody = { atomic: false, waitsForUs: () => false }
  #timer: NodeJS.Timeout | undefined

  constructor({ fileId, fence }: Fenced, sinceMs: number, deps: LeaseDeps) {
    this.fileId = fileId
    this.fence = fence
    this.#deps = deps
    this.#sinceMs = sinceMs
    this.#renewedMs = sinceMs
    this.#untilMs = this.#lastsUntilMs(sinceMs)
    this.#touchedMs = sinceMs
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  get wanted(): boolean {
    return this.#asked === 'preempted'
  }

  assertHeld(): void {
    this.watch()
    if (this.signal.aborted) throw lostLease()
  }

  touch(): void {
    this.#touchedMs = this.#deps.clock.now()
  }

  onStop(stop: (why: StopReason) => void, body: LeasedBody = this.#body): void {
    this.#stop = stop
    this.#body = body
    this.#tell()
  }

  /** Asks the holder to stop. */
  ask(why: StopReason): void {
    if (!this.#asked) this.#askedMs = this.#deps.clock.now()
    this.#asked = this.#asked === 'draining' ? this.#asked : why
    clearTimeout(this.#timer)
    this.#tell()
  }

  /**
   * Old enough to be renewed. Most requests end before their lease needs renewing. A lease that was lost in this process
   * must expire in the database, too: its writer does nothing more with it.
   */
  isDue(): boolean {
    const ageMs = this.#deps.clock.now() - this.#renewedMs
    // A negative age means that the clock was set back.
    return !this.signal.aborted && (ageMs < 0 || ageMs >= this.#deps.terms.renewMs / 2)
  }

  /** Returns whether the renewal was late. */
  renewed(sentAtMs: number): boolean {
    // The response to an older renewal came late.
    if (sentAtMs < this.#renewedMs && this.#renewedMs <= this.#deps.clock.now()) return false
    const isLate = sentAtMs - this.#renewedMs > LATE_RENEWALS * this.#deps.terms.renewMs
    this.#renewedMs = sentAtMs
    this.#untilMs = this.#lastsUntilMs(sentAtMs)
    return isLate
  }

  lose(): void {
    this.#lost.abort(lostLease())
  }

  /** Loses the lease if it has expired. */
  watch(): void {
    if (this.#deps.clock.now() >= this.#untilMs) this.lose()
  }

  whileHeld<Result>(work: Promise<Result>): Promise<Result> {
    return whileNotAborted(work, this.signal)
  }

  async release(end: Release): Promise<void> {
    if (this.#isOver) return
    try {
      await this.#deps.releaseRow(end)
    } finally {
      this.forget()
    }
  }

  forget(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#isTold = true
    this.#end()
    this.#deps.forget(this)
  }

  /** Nothing is sent or written in the last stretch of a lease. */
  #lastsUntilMs(sinceMs: number): number {
    const { leaseMs, marginMs } = this.#deps.terms
    return sinceMs + leaseMs - marginMs
  }

  /** Tells the holder to stop, once its turn is over. */
  #tell(afterWhatIsHere = false): void {
    if (!this.#asked || this.#isTold || !this.#stop) return
    if (this.#asked === 'preempted') {
      const turnLeftMs = this.#turnLeftMs()
      if (turnLeftMs > 0) {
        this.#timer = setTimeout(() => this.#tell(), turnLeftMs)
        return
      }
      // A busy process runs its timers, and other requests, before it reads bytes that have arrived already.
      if (!afterWhatIsHere) return void setImmediate(() => this.#tell(true))
    }
    this.#isTold = true
    this.#stop(this.#asked)
  }

  /** How long until the next look; 0 if the turn is over, or no bytes flow. */
  #turnLeftMs(): number {
    const { clock, terms } = this.#deps
    const { atomic, waitsForUs } = this.#body
    const nowMs = clock.now()
    const quietMs = atomic ? terms.atomicQuietMs : terms.quietMs
    const endsMs = atomic ? this.#sinceMs + terms.atomicTurnMs : this.#askedMs + terms.turnMs
    const isFlowing = nowMs - this.#touchedMs < quietMs || waitsForUs()
    return isFlowing ? Math.max(Math.min(endsMs - nowMs, quietMs), 0) : 0
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
