import type { PartPlan } from './part-plan.ts'

/**
 * Binds each part number to its bytes. The ledger commits a number together with the range of its part before that part
 * is sent. Whoever continues after a crash, a lost lease or a failed part sends that same range under that same number.
 * So the numbers run from 1 without a gap, as AWS demands of parts that carry checksums, and a request that arrives
 * late brings the bytes that are already there.
 *
 * A number that this writer bound ahead of time and has not sent may still be bound to another range. One that an
 * earlier writer left bound may not: nobody knows whether it was sent.
 */
export type Bound = {
  /** The last recorded part, and where it ends. */
  number: number
  startBytes: number
  /** Where the parts end that come after it, one number after another. */
  endsBytes: readonly number[]
}

export type PartNumbers = {
  /** The number of the next part, and where that part begins. */
  readonly next: number
  readonly startBytes: number
  /** Where the next part ends if nothing interrupts it. */
  readonly targetBytes: number
  /** Whether the next part may end early, at `endBytes`. */
  mayEndAt(endBytes: number): boolean
  /** Takes the next number for a part that ends at `endBytes`. */
  take(endBytes: number): number
  /** From here on the part may arrive in the bucket at any time. */
  markSent(number: number): void
  /** Whether the ledger has bound the number to the range it was taken for. */
  isCommitted(number: number): boolean
  /** What the ledger should bind from now on; with `recording`, in the statement that records the oldest part. */
  toBind(when?: { recording: boolean }): Bound
  /** What has to stay bound once this writer lets go. */
  toKeep(when?: { recording: boolean }): Bound
  /** The ledger has committed this. */
  commit(bound: Bound): void
}

/** `ahead` numbers are bound in advance, so that no part waits for a statement of its own. */
export function openPartNumbers(found: Bound, plan: PartPlan, ahead: number): PartNumbers {
  let { number, startBytes } = found
  const inherited = byNumber(found)
  let committed = byNumber(found)
  const taken: { endBytes: number; sent: boolean }[] = []

  const endOfTaken = () => taken.at(-1)?.endBytes ?? startBytes
  const nextNumber = () => number + taken.length + 1
  const recordedWith = ({ recording }: { recording: boolean }) => (recording ? 1 : 0)

  const describe = (recorded: number, endsBytes: number[]): Bound => ({
    number: number + recorded,
    startBytes: recorded === 0 ? startBytes : taken[recorded - 1]!.endBytes,
    endsBytes: endsBytes.slice(recorded),
  })
  const endsOfTaken = () => taken.map(({ endBytes }) => endBytes)

  return {
    get next() {
      return nextNumber()
    },
    get startBytes() {
      return endOfTaken()
    },
    get targetBytes() {
      const next = nextNumber()
      return committed.get(next) ?? plan.targetBytes({ number: next, startBytes: endOfTaken() })
    },
    mayEndAt(endBytes) {
      const next = nextNumber()
      const bound = inherited.get(next)
      if (bound !== undefined) return bound === endBytes
      return plan.mayEndAt({ number: next, startBytes: endOfTaken() }, endBytes)
    },
    take(endBytes) {
      const next = nextNumber()
      // What was planned to follow another end does not follow this one.
      if (committed.get(next) !== endBytes) {
        forgetFrom(committed, next)
        forgetFrom(inherited, next)
      }
      taken.push({ endBytes, sent: false })
      return next
    },
    markSent(sentNumber) {
      taken[sentNumber - number - 1]!.sent = true
    },
    isCommitted(takenNumber) {
      return committed.get(takenNumber) === taken[takenNumber - number - 1]?.endBytes
    },
    toBind(when = { recording: false }) {
      const recorded = recordedWith(when)
      const ends = endsOfTaken()
      for (let next = nextNumber(); ; next++) {
        const from = ends.at(-1) ?? startBytes
        const planned =
          ends.length - recorded < ahead ? plan.endBytes({ number: next, startBytes: from }) : undefined
        const end = inherited.get(next) ?? planned
        if (end === undefined) return describe(recorded, ends)
        ends.push(end)
      }
    },
    toKeep(when = { recording: false }) {
      const recorded = recordedWith(when)
      const ends = endsOfTaken()
      const lastSent = taken.findLastIndex(({ sent }) => sent) + 1
      if (!inherited.has(nextNumber())) ends.length = Math.max(lastSent, recorded, inheritedAmongTaken())
      for (let next = nextNumber(); inherited.has(next); next++) ends.push(inherited.get(next)!)
      return describe(recorded, ends)
    },
    commit(bound) {
      while (number < bound.number) {
        number += 1
        startBytes = taken.shift()!.endBytes
        inherited.delete(number)
      }
      committed = byNumber(bound)
    },
  }

  /** How many of the taken numbers, from the first, an earlier writer had bound. */
  function inheritedAmongTaken(): number {
    let count = 0
    while (count < taken.length && inherited.has(number + count + 1)) count += 1
    return count
  }
}

function byNumber({ number, endsBytes }: Bound): Map<number, number> {
  return new Map(endsBytes.map((endBytes, n) => [number + n + 1, endBytes]))
}

function forgetFrom(ends: Map<number, number>, number: number): void {
  for (const bound of ends.keys()) if (bound >= number) ends.delete(bound)
}
