import type { Clock } from '../kernel/clock.ts'
import { createPagePool, type PagePool } from './page-pool.ts'

/**
 * The bytes that uploads may hold in memory, over the whole process. They are taken as they arrive and given back
 * when they are durable. Nothing waits to take: who reads from a client looks at `full` and pauses. Before that
 * point, half-filled parts that are long in filling are moved into the database, the slowest first, so that slow
 * clients cannot starve fast ones. Parts on their way to the bucket come free by themselves, so a fast client's
 * part is moved only when there is nothing else to wait for.
 */
export type MemoryBudget = {
  readonly pages: PagePool
  readonly limitBytes: number
  readonly usedBytes: number
  readonly full: boolean
  take(bytes: number): void
  give(bytes: number): void
  /** Bytes that are on their way out, and come free soon; negative once they have. */
  leaving(bytes: number): void
  /** Calls back once there is room again. */
  whenFree(resume: () => void): void
  /** Offers a half-filled part to be moved out; the function takes the offer back. */
  offer(spillable: Spillable): () => void
}

export type Spillable = {
  heldBytes(): number
  /** When its oldest byte came. */
  sinceMs(): number
  spill(): Promise<void>
}

const SPILL_ABOVE = 0.75
const SPILLS_AT_ONCE = 4
/** A part that has been filling for so long has a slow client. */
const SLOW_MS = 3000
/** With less than this share on its way out, a full budget would stay full. */
const STUCK_SHARE = 0.1
const LOOK_AGAIN_MS = 250
/** Less is not worth a row. */
const MIN_SPILL_BYTES = 4096
/** Free pages that are kept for the next parts. */
const KEEP_SHARE = 0.25

export function createMemoryBudget(
  limitBytes: number,
  { clock, onChange }: { clock: Clock; onChange?: (usedBytes: number) => void },
): MemoryBudget {
  let usedBytes = 0
  let leavingBytes = 0
  let spilling = 0
  let lookingAgain: NodeJS.Timeout | undefined
  const waiting: (() => void)[] = []
  const offers = new Set<Spillable>()
  const busy = new Set<Spillable>()

  const lookAgain = () => {
    if (lookingAgain) return
    lookingAgain = setTimeout(() => {
      lookingAgain = undefined
      relieve()
    }, LOOK_AGAIN_MS).unref()
  }
  const relieve = () => {
    while (usedBytes > limitBytes * SPILL_ABOVE && spilling < SPILLS_AT_ONCE) {
      const slowest = slowestOf(offers, busy)
      if (!slowest) return
      const stuck = usedBytes >= limitBytes && leavingBytes < limitBytes * STUCK_SHARE
      if (!stuck && clock.now() - slowest.sinceMs() < SLOW_MS) return lookAgain()
      spilling += 1
      busy.add(slowest)
      // A spill that fails shows in the request that owns the part.
      void slowest
        .spill()
        .catch(() => {})
        .finally(() => {
          spilling -= 1
          busy.delete(slowest)
          relieve()
        })
    }
  }
  return {
    pages: createPagePool(limitBytes * KEEP_SHARE),
    limitBytes,
    get usedBytes() {
      return usedBytes
    },
    get full() {
      return usedBytes >= limitBytes
    },
    take(bytes: number) {
      usedBytes += bytes
      onChange?.(usedBytes)
      if (usedBytes > limitBytes * SPILL_ABOVE) relieve()
    },
    give(bytes: number) {
      usedBytes -= bytes
      onChange?.(usedBytes)
      while (waiting.length > 0 && usedBytes < limitBytes) waiting.shift()!()
    },
    leaving(bytes) {
      leavingBytes += bytes
    },
    whenFree(resume) {
      if (usedBytes < limitBytes) resume()
      else waiting.push(resume)
    },
    offer(spillable) {
      offers.add(spillable)
      return () => offers.delete(spillable)
    },
  }
}

function slowestOf(offers: Iterable<Spillable>, busy: ReadonlySet<Spillable>): Spillable | undefined {
  let slowest: Spillable | undefined
  for (const offer of offers) {
    if (busy.has(offer) || offer.heldBytes() < MIN_SPILL_BYTES) continue
    if (!slowest || offer.sinceMs() < slowest.sinceMs()) slowest = offer
  }
  return slowest
}
