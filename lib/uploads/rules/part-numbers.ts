import type { PartPlan, PartStart } from './part-plan.ts'

/** The part numbers that the ledger has bound to ranges of bytes. */
export type Bound = {
  /** How many parts are recorded, and how many bytes they contain. */
  recordedParts: number
  recordedBytes: number
  /** The offsets at which the following parts end, in the order of their numbers. */
  boundEnds: readonly number[]
}

export const NOTHING_BOUND: Bound = { recordedParts: 0, recordedBytes: 0, boundEnds: [] }

/**
 * Binds each part number to its bytes. The ledger commits a number together with its part's range before that part is
 * sent. A writer that continues after a crash, a lost lease or a failed part sends the same range under the same
 * number. The numbers therefore run from 1 without a gap, as AWS requires for parts with checksums, and a late request
 * to the bucket can only overwrite a part with the same bytes.
 *
 * A number that this writer bound ahead of time and has not sent can still be bound to another range. A number that an
 * earlier writer left bound cannot be bound to another range, because its part may have been sent.
 */
export class PartNumbers {
  /** The last recorded part, and where it ends. */
  #recordedParts: number
  #recordedBytes: number
  readonly #plan: PartPlan
  /** How many numbers are bound in advance, so that no part waits for a separate statement. */
  readonly #ahead: number
  /** Numbers that an earlier writer left bound, and where their parts end. */
  readonly #inherited: Map<number, number>
  /** Numbers that the ledger has bound, and where their parts end. */
  #bound: Map<number, number>
  /** An entry for each number that was taken and is not recorded yet. */
  readonly #taken: { endOffset: number; sent: boolean }[] = []

  constructor(found: Bound, plan: PartPlan, ahead: number) {
    this.#recordedParts = found.recordedParts
    this.#recordedBytes = found.recordedBytes
    this.#plan = plan
    this.#ahead = ahead
    this.#inherited = byNumber(found)
    this.#bound = byNumber(found)
  }

  /** The number and start of the next part. */
  get next(): number {
    return this.#recordedParts + this.#taken.length + 1
  }

  get startOffset(): number {
    return this.#taken.at(-1)?.endOffset ?? this.#recordedBytes
  }

  /** The offset at which the next part ends if nothing interrupts it. */
  get targetOffset(): number {
    return this.#bound.get(this.next) ?? this.#plan.targetOffset(this.#nextStart)
  }

  /** Whether the next part may end early, at `endOffset`. */
  mayEndAt(endOffset: number): boolean {
    const bound = this.#inherited.get(this.next)
    if (bound !== undefined) return bound === endOffset
    return this.#plan.mayEndAt(this.#nextStart, endOffset)
  }

  /** Takes the next number for a part that ends at `endOffset`. */
  take(endOffset: number): number {
    const { next } = this
    // If this number was planned for a part with a different end, it and the following ones are no longer valid.
    if (this.#bound.get(next) !== endOffset) {
      forgetFrom(this.#bound, next)
      forgetFrom(this.#inherited, next)
    }
    this.#taken.push({ endOffset, sent: false })
    return next
  }

  /**
   * Marks a part that may arrive in a bucket at any time after this call. If the required destinations have the part,
   * it may already be recorded.
   */
  markSent(number: number): void {
    const taken = this.#taken[number - this.#recordedParts - 1]
    if (taken) taken.sent = true
  }

  /** Whether the ledger has bound the number to the range it was taken for. */
  isBound(number: number): boolean {
    return this.#bound.get(number) === this.#taken[number - this.#recordedParts - 1]?.endOffset
  }

  /**
   * The bindings that the ledger should record now. `recording` means that the same statement records the oldest part.
   */
  toBind({ recording } = { recording: false }): Bound {
    const ends = this.#endsOfTaken
    const recorded = recording ? 1 : 0
    for (let number = this.next; ; number++) {
      const startOffset = ends.at(-1) ?? this.#recordedBytes
      const isAhead = ends.length - recorded < this.#ahead
      const planned = isAhead ? this.#plan.endOffset({ number, startOffset }) : undefined
      const end = this.#inherited.get(number) ?? planned
      if (end === undefined) return this.#describe(recorded, ends)
      ends.push(end)
    }
  }

  /** The numbers that must stay bound once this writer releases the lease. */
  boundAfterRelease({ recording } = { recording: false }): Bound {
    const ends = this.#endsOfTaken
    const recorded = recording ? 1 : 0
    const lastSent = this.#taken.findLastIndex(({ sent }) => sent) + 1
    if (!this.#inherited.has(this.next))
      ends.length = Math.max(lastSent, recorded, this.#countInheritedAmongTaken())
    for (let number = this.next; this.#inherited.has(number); number++)
      ends.push(this.#inherited.get(number)!)
    return this.#describe(recorded, ends)
  }

  /** Call this once the ledger has committed the binding. */
  bindingWritten(bound: Bound): void {
    while (this.#recordedParts < bound.recordedParts) {
      this.#recordedParts += 1
      this.#recordedBytes = this.#taken.shift()!.endOffset
      this.#inherited.delete(this.#recordedParts)
    }
    this.#bound = byNumber(bound)
  }

  get #nextStart(): PartStart {
    return { number: this.next, startOffset: this.startOffset }
  }

  get #endsOfTaken(): number[] {
    return this.#taken.map(({ endOffset }) => endOffset)
  }

  #describe(recorded: number, boundEnds: number[]): Bound {
    return {
      recordedParts: this.#recordedParts + recorded,
      recordedBytes: recorded === 0 ? this.#recordedBytes : this.#taken[recorded - 1]!.endOffset,
      boundEnds: boundEnds.slice(recorded),
    }
  }

  /** How many taken numbers in a row, starting with the first, an earlier writer had bound. */
  #countInheritedAmongTaken(): number {
    let count = 0
    while (count < this.#taken.length && this.#inherited.has(this.#recordedParts + count + 1)) count += 1
    return count
  }
}

function byNumber({ recordedParts, boundEnds }: Bound): Map<number, number> {
  return new Map(boundEnds.map((endOffset, n) => [recordedParts + n + 1, endOffset]))
}

function forgetFrom(ends: Map<number, number>, number: number): void {
  for (const bound of ends.keys()) if (bound >= number) ends.delete(bound)
}
