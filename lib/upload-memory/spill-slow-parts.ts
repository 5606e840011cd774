import type { Clock } from '../platform/kernel/clock.ts'
import type { Account } from './memory-budget.ts'

export type Spillable = {
  /** How much memory spilling this part would free; 0 if it cannot be spilled now. */
  heldBytes(): number
  /** When the part's first byte arrived. */
  sinceMs(): number
  /**
   * Resolves when the database has the bytes, or immediately if they go to the bucket, because other spills need not
   * wait for that.
   */
  spill(): Promise<void>
}

/** Spilling starts above this share of an account's limit. */
const SPILL_ABOVE = 0.5
/**
 * How many parts are spilled at the same time while readers are waiting for memory. Otherwise, one part is spilled at a
 * time.
 */
const SPILLS_AT_ONCE = 4
/** If a part has been filling for this long, its client is slow. */
const SLOW_MS = 3000
/** A full account is stuck if at most this share of its memory is about to be freed. */
const STUCK_SHARE = 0.1
const LOOK_AGAIN_MS = 250

/**
 * Before memory is used up, spills partly filled parts that fill slowly, slowest first, so that slow clients cannot
 * starve fast ones. Parts in flight to the bucket free their memory soon, so a fast client's part is only spilled if
 * its account is waiting and has almost nothing in flight. If such an account has no part to spill, a slow part of
 * another account is spilled.
 */
export class Spiller {
  readonly #clock: Clock
  readonly #offers: ReadonlySet<Spillable>
  readonly #holds: (fraction: number, account: Account) => boolean
  readonly #pressed = new Set<Account>()
  readonly #busy = new Set<Spillable>()
  #lookingAgain: NodeJS.Timeout | undefined

  /** `offers` are those of all accounts, in the order of their first bytes. */
  constructor(deps: {
    clock: Clock
    offers: ReadonlySet<Spillable>
    holds: (fraction: number, account: Account) => boolean
  }) {
    this.#clock = deps.clock
    this.#offers = deps.offers
    this.#holds = deps.holds
  }

  /** Accounts that are short of memory, or whose readers are waiting for it. */
  get pressed(): ReadonlySet<Account> {
    return this.#pressed
  }

  /** Called when the account has taken memory. */
  look(account: Account): void {
    if (this.#pressed.has(account) || !this.#isTight(account)) return
    this.#pressed.add(account)
    // Deferred, because the caller may be filling the very part that would be spilled.
    queueMicrotask(() => this.#relieve())
  }

  /** Called when one of the account's readers is waiting for memory. */
  wait(account: Account): void {
    this.#pressed.add(account)
    this.#relieve()
  }

  #relieve(): void {
    while (this.#busy.size < this.#mostSpills()) {
      const spillable = this.#next()
      if (!spillable) {
        this.#lookAgain()
        return
      }
      void this.#spill(spillable)
    }
  }

  #mostSpills(): number {
    for (const { waiting } of this.#pressed) if (waiting.length > 0) return SPILLS_AT_ONCE
    return 1
  }

  #next(): Spillable | undefined {
    let anyStuck = false
    for (const account of this.#pressed) {
      const tight = this.#isTight(account)
      if (account.waiting.length === 0 && !tight) this.#pressed.delete(account)
      const stuck = isStuck(account)
      const slowest = this.#slowestOf(account.offers)
      if (slowest && (stuck || (tight && this.#isSlow(slowest)))) return slowest
      anyStuck ||= stuck
    }
    const slowest = anyStuck ? this.#slowestOf(this.#offers) : undefined
    return slowest && this.#isSlow(slowest) ? slowest : undefined
  }

  #slowestOf(offers: ReadonlySet<Spillable>): Spillable | undefined {
    for (const offer of offers) if (!this.#busy.has(offer) && offer.heldBytes() > 0) return offer
    return undefined
  }

  /** If a spill fails, the request that owns the part reports it. */
  async #spill(spillable: Spillable): Promise<void> {
    this.#busy.add(spillable)
    await spillable.spill().catch(() => {})
    this.#busy.delete(spillable)
    this.#relieve()
  }

  #lookAgain(): void {
    if (this.#lookingAgain || this.#pressed.size === 0) return
    this.#lookingAgain = setTimeout(() => {
      this.#lookingAgain = undefined
      this.#relieve()
    }, LOOK_AGAIN_MS).unref()
  }

  #isTight(account: Account): boolean {
    return this.#holds(SPILL_ABOVE, account)
  }

  #isSlow(part: Spillable): boolean {
    return this.#clock.now() - part.sinceMs() >= SLOW_MS
  }
}

function isStuck({ waiting, leavingBytes, usedBytes }: Account): boolean {
  return waiting.length > 0 && leavingBytes <= usedBytes * STUCK_SHARE
}
