import type { Clock } from '../kernel/clock.ts'
import { createPagePool, type PagePool } from './page-pool.ts'

/**
 * The bytes that uploads may hold in memory, over the whole process. They are taken as they arrive and given back
 * when they are durable. Nothing waits to take: who reads from a client looks at `full` and pauses. Before that
 * point, half-filled parts that are long in filling are moved out, the slowest first, so that slow clients cannot starve
 * fast ones. Parts on their way to the bucket come free by themselves, so a fast client's part is moved only when there
 * is nothing else to wait for.
 *
 * Each bucket has an account, which is full when it holds a certain multiple of what is left: a bucket alone may use
 * most of the budget, and one that hangs, or several, leave the others their share.
 */
export type MemoryBudget = {
  readonly limitBytes: number
  readonly usedBytes: number
  account(bucket: object): MemoryAccount
}

export type MemoryAccount = {
  readonly pages: PagePool
  readonly full: boolean
  take(bytes: number): void
  give(bytes: number): void
  /** Bytes that are on their way out, and come free soon; negative once they have. */
  leaving(bytes: number): void
  /** Calls back once there may be room again. */
  whenFree(resume: () => void): void
  /** Offers a half-filled part to be moved out. Its first byte has just come, so those before it are slower. */
  offer(spillable: Spillable): void
  withdraw(spillable: Spillable): void
}

export type Spillable = {
  /** What moving it out would free; 0 if it cannot be moved now. */
  heldBytes(): number
  /** When its oldest byte came. */
  sinceMs(): number
  /** Resolves when the database has it, or at once if it goes to the bucket, for which nobody else must wait. */
  spill(): Promise<void>
}

type Account = {
  usedBytes: number
  leavingBytes: number
  waiting: (() => void)[]
  /** In the order of their first bytes. */
  offers: Set<Spillable>
}

/** An account holds so many times what is left, at most: one alone two thirds, two alone two fifths each. */
const SHARE = 2
/** Of what an account may hold. */
const SPILL_ABOVE = 0.5
/** While readers wait. Before that, one after another: a crowd that fills its parts in step is no reason for haste. */
const SPILLS_AT_ONCE = 4
/** A part that has been filling for so long has a slow client. */
const SLOW_MS = 3000
/** With less than this share on its way out, a full account would stay full. */
const STUCK_SHARE = 0.1
const LOOK_AGAIN_MS = 250

export function createMemoryBudget(
  limitBytes: number,
  { clock, onChange }: { clock: Clock; onChange?: (usedBytes: number) => void },
): MemoryBudget {
  const pages = createPagePool()
  const accounts = new WeakMap<object, MemoryAccount>()
  const busy = new Set<Spillable>()
  /** Accounts that are nearly full, or that somebody waits for. */
  const pressed = new Set<Account>()
  let usedBytes = 0
  let spilling = 0
  let lookingAgain: NodeJS.Timeout | undefined

  const isAbove = (share: number, { usedBytes: held }: Account) =>
    held >= share * SHARE * (limitBytes - usedBytes)
  const isFull = (account: Account) => isAbove(1, account)
  const isTight = (account: Account) => isAbove(SPILL_ABOVE, account)
  const isStuck = ({ waiting, leavingBytes, usedBytes: held }: Account) =>
    waiting.length > 0 && leavingBytes < held * STUCK_SHARE
  const mostSpills = () => {
    for (const { waiting } of pressed) if (waiting.length > 0) return SPILLS_AT_ONCE
    return 1
  }
  const next = (): Spillable | undefined => {
    for (const account of pressed) {
      if (account.waiting.length === 0 && !isTight(account)) pressed.delete(account)
      const slowest = slowestOf(account, busy)
      if (slowest && (isStuck(account) || isSlow(account, slowest))) return slowest
    }
    return undefined
  }
  const isSlow = (account: Account, part: Spillable) =>
    isTight(account) && clock.now() - part.sinceMs() >= SLOW_MS
  const relieve = () => {
    while (spilling < mostSpills()) {
      const spillable = next()
      if (!spillable) return lookAgain()
      spilling += 1
      busy.add(spillable)
      // A spill that fails shows in the request that owns the part.
      void spillable
        .spill()
        .catch(() => {})
        .finally(() => {
          spilling -= 1
          busy.delete(spillable)
          relieve()
        })
    }
  }
  const lookAgain = () => {
    if (lookingAgain || pressed.size === 0) return
    lookingAgain = setTimeout(() => {
      lookingAgain = undefined
      relieve()
    }, LOOK_AGAIN_MS).unref()
  }
  const change = (account: Account, bytes: number) => {
    usedBytes += bytes
    account.usedBytes += bytes
    onChange?.(usedBytes)
  }
  const press = (account: Account) => {
    if (pressed.has(account)) return
    pressed.add(account)
    // Not now: who takes memory is in the middle of filling a part, which may be the very one to be moved out.
    queueMicrotask(relieve)
  }
  const wake = () => {
    for (const account of pressed) {
      if (account.waiting.length > 0 && !isFull(account))
        for (const resume of account.waiting.splice(0)) resume()
    }
  }
  const open = (): MemoryAccount => {
    const account: Account = { usedBytes: 0, leavingBytes: 0, waiting: [], offers: new Set() }
    return {
      pages,
      get full() {
        return isFull(account)
      },
      take(bytes) {
        change(account, bytes)
        if (isTight(account)) press(account)
      },
      give(bytes) {
        change(account, -bytes)
        wake()
      },
      leaving(bytes) {
        account.leavingBytes += bytes
      },
      whenFree(resume) {
        if (!isFull(account)) return resume()
        pressed.add(account)
        if (account.waiting.push(resume) === 1) relieve()
      },
      offer(spillable) {
        account.offers.delete(spillable)
        account.offers.add(spillable)
      },
      withdraw(spillable) {
        account.offers.delete(spillable)
      },
    }
  }
  return {
    limitBytes,
    get usedBytes() {
      return usedBytes
    },
    account(bucket) {
      const account = accounts.get(bucket) ?? open()
      accounts.set(bucket, account)
      return account
    },
  }
}

function slowestOf({ offers }: Account, busy: ReadonlySet<Spillable>): Spillable | undefined {
  for (const offer of offers) {
    if (!busy.has(offer) && offer.heldBytes() > 0) return offer
  }
  return undefined
}
