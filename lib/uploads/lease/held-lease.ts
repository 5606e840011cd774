import type { Release } from '../ledger/lease-rows.ts'
import { type Claim, type Fenced, lostLease } from '../ledger/lease-terms.ts'
import type { UploadTerms } from '../rules/upload-terms.ts'

/** A lease held by this process: how long it lasts, and when its holder must stop. */
export type Lease = Fenced & {
  /** Aborted when the lease is lost or could not be renewed in time. */
  readonly signal: AbortSignal
  /** Another request is waiting for the lease. */
  readonly wanted: boolean
  /** Throws if the lease has expired; called before every bucket request. */
  assertHeld(): void
  /** Called when bytes have arrived. */
  touch(): void
  /**
   * Registers a callback for when the holder must stop. If the holder already must stop, `stop` is called immediately.
   */
  onStop(stop: (why: StopReason) => void, body?: LeasedBody): void
  /** Rejects if the lease is lost before `work` is done. */
  whileHeld<Result>(work: Promise<Result>): Promise<Result>
  /** Releases the lease in this process and, unless that has already happened, in its row. */
  release(end: Release): Promise<void>
  /** Only removes the lease from this process: another statement has released it in its row, or the lease is lost. */
  forget(): void
}

type LeasedBody = {
  /** The body takes effect entirely or not at all, so the holder may finish it, within limits. */
  atomic: boolean
  /** True if no bytes arrive because this process has paused reading. */
  waitsForUs(): boolean
}

export type StopReason = 'preempted' | 'draining' | 'suspended'

/** A renewal is late after twice the interval, when about half of the lease has passed. */
const LATE_RENEWALS = 2

type LeaseDeps = {
  terms: UploadTerms
  /** Called when this process no longer holds the lease. */
  forget(lease: HeldLease): void
  releaseRow(end: Release): Promise<void>
}

type Holder = { stop(why: StopReason): void; body: LeasedBody }

type State =
  | { kind: 'held' }
  /** The holder has been asked to stop, but may continue until its turn is over. */
  | { kind: 'asked'; why: StopReason; sinceMs: number }
  /** The `stop` callback has been called. */
  | { kind: 'stopped'; why: StopReason }
  /** This process no longer holds the lease. */
  | { kind: 'over'; wasWanted: boolean }

/** A lease, and when the statement that took it was sent. */
export type FreshlyTaken = Fenced & Pick<Claim, 'madeMs'>

/** Measures time with `performance.now()`, so that a change of the clock neither ends nor extends a lease. */
export class HeldLease implements Lease {
  readonly rowId: string
  readonly fence: number
  readonly claim: string
  /** Resolves when this process no longer holds the lease. */
  readonly ended: Promise<void>
  readonly #deps: LeaseDeps
  readonly #sinceMs: number
  readonly #lost = new AbortController()
  readonly #end: () => void
  #state: State = { kind: 'held' }
  #renewedMs: number
  #untilMs: number
  #touchedMs: number
  #holder: Holder | undefined
  #timer: NodeJS.Timeout | undefined

  constructor({ rowId, fence, claim, madeMs }: FreshlyTaken, deps: LeaseDeps) {
    this.rowId = rowId
    this.fence = fence
    this.claim = claim
    this.#deps = deps
    this.#sinceMs = madeMs
    this.#renewedMs = madeMs
    this.#untilMs = this.#lastsUntilMs(madeMs)
    this.#touchedMs = madeMs
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  get wanted(): boolean {
    const state = this.#state
    if (state.kind === 'held') return false
    return state.kind === 'over' ? state.wasWanted : state.why === 'preempted'
  }

  assertHeld(): void {
    this.watch()
    if (this.signal.aborted) throw lostLease()
  }

  touch(): void {
    this.#touchedMs = performance.now()
  }

  onStop(
    stop: (why: StopReason) => void,
    body: LeasedBody = { atomic: false, waitsForUs: () => false },
  ): void {
    this.#holder = { stop, body }
    this.#stopWhenDue()
  }

  askToStop(why: StopReason): void {
    const state = this.#state
    if (state.kind === 'over') return
    if (state.kind === 'held') this.#state = { kind: 'asked', why, sinceMs: performance.now() }
    else if (state.why === 'preempted') this.#state = { ...state, why }
    clearTimeout(this.#timer)
    this.#stopWhenDue()
  }

  /**
   * Whether the lease is old enough to renew: most requests end earlier. A lease lost in this process is not renewed,
   * so that it also expires in the database.
   */
  isDue(): boolean {
    return !this.signal.aborted && performance.now() - this.#renewedMs >= this.#deps.terms.renewMs / 2
  }

  /** Returns whether the renewal was late. */
  renewed(sentAtMs: number): boolean {
    // This is a late response to an older renewal.
    if (sentAtMs < this.#renewedMs) return false
    const isLate = sentAtMs - this.#renewedMs > LATE_RENEWALS * this.#deps.terms.renewMs
    this.#renewedMs = sentAtMs
    this.#untilMs = this.#lastsUntilMs(sentAtMs)
    return isLate
  }

  lose(): void {
    this.#lost.abort(lostLease())
  }

  /** Marks the lease as lost if it has expired. */
  watch(): void {
    if (performance.now() >= this.#untilMs) this.lose()
  }

  whileHeld<Result>(work: Promise<Result>): Promise<Result> {
    return whileNotAborted(work, this.signal)
  }

  async release(end: Release): Promise<void> {
    if (this.#state.kind === 'over') return
    try {
      await this.#deps.releaseRow(end)
    } finally {
      this.forget()
    }
  }

  forget(): void {
    if (this.#state.kind === 'over') return
    this.#state = { kind: 'over', wasWanted: this.wanted }
    clearTimeout(this.#timer)
    this.#end()
    this.#deps.forget(this)
  }

  /** This is earlier than in the database, so that nothing is sent or written just before the lease expires there. */
  #lastsUntilMs(sinceMs: number): number {
    const { leaseMs, marginMs } = this.#deps.terms
    return sinceMs + leaseMs - marginMs
  }

  /** Stops the holder if it was asked to stop and its turn is over. */
  #stopWhenDue(hasReadArrived = false): void {
    const state = this.#state
    const holder = this.#holder
    if (state.kind !== 'asked' || !holder) return
    if (state.why === 'preempted') {
      const turnLeftMs = this.#turnLeftMs(state.sinceMs, holder.body)
      if (turnLeftMs > 0) {
        this.#timer = setTimeout(() => this.#stopWhenDue(), turnLeftMs)
        return
      }
      // In a busy process, timers run before bytes that have already arrived are read, so read these first.
      if (!hasReadArrived) return void setImmediate(() => this.#stopWhenDue(true))
    }
    this.#state = { kind: 'stopped', why: state.why }
    holder.stop(state.why)
  }

  /** How long until the next check; 0 if the turn is over, or if no bytes are arriving. */
  #turnLeftMs(askedMs: number, { atomic, waitsForUs }: LeasedBody): number {
    const { terms } = this.#deps
    const nowMs = performance.now()
    const quietMs = atomic ? terms.atomicQuietMs : terms.quietMs
    const endsMs = atomic ? this.#sinceMs + terms.atomicTurnMs : askedMs + terms.turnMs
    const isFlowing = nowMs - this.#touchedMs < quietMs || waitsForUs()
    return isFlowing ? Math.max(Math.min(endsMs - nowMs, quietMs), 0) : 0
  }
}

/** Releases a lease whose holder did nothing. If that fails, the lease expires. */
export function giveBack(lease: Lease, end: Omit<Release, 'interrupted'> = {}): Promise<void> {
  return lease.release({ interrupted: false, ...end }).catch(() => {})
}

function whileNotAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
