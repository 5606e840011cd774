/**
 * The bytes that uploads may hold in memory, over the whole process. They are taken as they arrive and given back
 * when they are durable. Nothing waits to take: who reads from a client looks at `full` and pauses. Before that
 * point, half-filled parts are moved into the database, the longest in filling first, so that slow clients
 * cannot starve fast ones.
 */
export type MemoryBudget = {
  readonly limitBytes: number
  readonly usedBytes: number
  readonly full: boolean
  take(bytes: number): void
  give(bytes: number): void
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
/** Less is not worth a row. */
const MIN_SPILL_BYTES = 4096

export function createMemoryBudget(limitBytes: number, onChange?: (usedBytes: number) => void): MemoryBudget {
  let usedBytes = 0
  let spilling = 0
  const waiting: (() => void)[] = []
  const offers = new Set<Spillable>()
  const busy = new Set<Spillable>()

  const relieve = () => {
    while (usedBytes > limitBytes * SPILL_ABOVE && spilling < SPILLS_AT_ONCE) {
      const slowest = slowestOf(offers, busy)
      if (!slowest) return
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
    limitBytes,
    get usedBytes() {
      return usedBytes
    },
    get full() {
      return usedBytes >= limitBytes
    },
    take(bytes) {
      usedBytes += bytes
      onChange?.(usedBytes)
      if (usedBytes > limitBytes * SPILL_ABOVE) relieve()
    },
    give(bytes) {
      usedBytes -= bytes
      onChange?.(usedBytes)
      while (waiting.length > 0 && usedBytes < limitBytes) waiting.shift()!()
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
