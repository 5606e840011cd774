import type { Destination } from '../opening/upload.ts'

/** A part in flight to every destination: who has it, and who still needs its bytes. */
export class Delivery {
  readonly number: number
  /** Resolves with the part's checksum once every required destination has it: it can be recorded. */
  readonly acknowledged: Promise<number>
  /** Resolves with whether the part is in the ledger, once that is certain. */
  readonly recorded: Promise<boolean>
  /**
   * Resolves when no destination needs the bytes any more. Undefined if that was already the case when the part was
   * acknowledged.
   */
  trailing: Promise<void> | undefined
  /** Abandons the destinations that still need its bytes. */
  onTooMuch = () => {}
  readonly #etags: (string | null)[]
  readonly #failed = new AbortController()
  readonly #acknowledging = Promise.withResolvers<number>()
  readonly #recording = Promise.withResolvers<boolean>()
  #isTaken = false
  #isRecorded = false

  constructor(number: number, destinations: number) {
    this.number = number
    this.acknowledged = this.#acknowledging.promise
    this.recorded = this.#recording.promise
    this.#etags = Array.from({ length: destinations }, () => null)
  }

  /** Aborted when the part does not count, so that nobody needs it. */
  get signal(): AbortSignal {
    return this.#failed.signal
  }

  /** Returns false if that is too late for the statement that records the part. */
  reached({ position }: Destination, etag: string): boolean {
    this.#etags[position - 1] = etag
    return !this.#isTaken
  }

  acknowledge(crc32: number, trailing: Promise<void> | undefined): void {
    this.trailing = trailing
    this.#acknowledging.resolve(crc32)
  }

  fail(fault: unknown): void {
    this.#failed.abort(fault)
    this.#acknowledging.reject(fault)
  }

  /** For each destination, for the statement that records the part. */
  takeEtags(): readonly (string | null)[] {
    this.#isTaken = true
    return this.#etags
  }

  get isRecorded(): boolean {
    return this.#isRecorded
  }

  noteRecorded(): void {
    this.#isRecorded = true
    this.#recording.resolve(true)
  }

  /** The writer lost the file, or an earlier piece failed. */
  noteNotRecorded(): void {
    this.#recording.resolve(false)
  }
}
