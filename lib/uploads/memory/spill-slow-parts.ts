import type { Clock } from '../../platform/kernel/clock.ts'
import type { Account } from './memory-budget.ts'

export type Spillable = {
  /** What moving it out would free; 0 if it cannot be moved now. */
  heldBytes(): number
  /** When its oldest byte came. */
  sinceMs(): number
  /** Resolves when the database has the part, or at once if it goes to the bucket: other spills do not wait for that. */
  spill(): Promise<void>
}

/**
 * Before memory is used up, half-filled parts that fill slowly are moved out, the slowest first, so that slow clients
 * cannot starve fast ones. Parts on their way to the bucket come free by themselves, so a fast client's part is moved only
 * when there is nothing else to wait for. For an account that waits and has no such part, the slowest of any account is moved.
 */
export type Spiller = {
  /** Accounts that are nearly full, or that somebody waits for. */
  readonly pressed: ReadonlySet<Account>
  /** Called when the account has taken memory. */
  look(account: Account): void
  /** Called when a reader of the account waits for memory. */
  wait(account: Account): void
}

/** Spilling starts above this share of what an account may hold. */
const SPILL_ABOVE = 0.5
/** While readers wait. Before that one at a time: a crowd that fills its parts in step is no reason to hurry. */
const SPILLS_AT_ONCE = 4
/** The client of a part that has been filling for this long is slow. */
const SLOW_MS = 3000
/** With less than this share on its way out, a full account would stay full. */
const STUCK_SHARE = 0.1
const LOOK_AGAIN_MS = 250

export function createSpiller({
  clock,
  offers,
  holds,
}: {
  clock: Clock
  /** The offers of all accounts, in the order of their first bytes. */
  offers: ReadonlySet<Spillable>
  holds: (fraction: number, account: Account) => boolean
}): Spiller {
  const busy = new Set<Spillable>()
  const pressed = new Set<Account>()
  let spilling = 0
  let lookingAgain: NodeJS.Timeout | undefined

  const isTight = (account: Account) => holds(SPILL_ABOVE, account)
  const isStuck = ({ waiting, leavingBytes, usedBytes }: Account) =>
    waiting.length > 0 && leavingBytes <= usedBytes * STUCK_SHARE
  const isSlow = (part: Spillable) => clock.now() - part.sinceMs() >= SLOW_MS
  const mostSpills = () => {
    for (const { waiting } of pressed) if (waiting.length > 0) return SPILLS_AT_ONCE
    return 1
  }
  const next = (): Spillable | undefined => {
    let anyStuck = false
    for (const account of pressed) {
      if (account.waiting.length === 0 && !isTight(account)) pressed.delete(account)
      const stuck = isStuck(account)
      const slowest = slowestOf(account.offers, busy)
      if (slowest && (stuck || (isTight(account) && isSlow(slowest)))) return slowest
      anyStuck ||= stuck
    }
    const slowest = anyStuck ? slowestOf(offers, busy) : undefined
    return slowest && isSlow(slowest) ? slowest : undefined
  }
  /** A spill that fails shows in the request that owns the part. */
  const spill = async (spillable: Spillable) => {
    spilling += 1
    busy.add(spillable)
    await spillable.spill().catch(() => {})
    spilling -= 1
    busy.delete(spillable)
    relieve()
  }
  const relieve = () => {
    while (spilling < mostSpills()) {
      const spillable = next()
      if (!spillable) return lookAgain()
      void spill(spillable)
    }
  }
  const lookAgain = () => {
    if (lookingAgain || pressed.size === 0) return
    lookingAgain = setTimeout(() => {
      lookingAgain = undefined
      relieve()
    }, LOOK_AGAIN_MS).unref()
  }
  return {
    pressed,
    look(account) {
      if (pressed.has(account) || !isTight(account)) return
      pressed.add(account)
      // Defer: the caller may be filling the part we would spill.
      queueMicrotask(relieve)
    },
    wait(account) {
      pressed.add(account)
      relieve()
    },
  }
}

function slowestOf(offers: ReadonlySet<Spillable>, busy: ReadonlySet<Spillable>): Spillable | undefined {
  for (const offer of offers) {
    if (!busy.has(offer) && offer.heldBytes() > 0) return offer
  }
  return undefined
}
