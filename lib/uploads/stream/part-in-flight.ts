import type { Destination } from '../opening/upload.ts'

/** A part in flight to all destinations: records which of them have the part, and which still need its bytes. */
export class PartInFlight {
  readonly number: number
  /** Resolves with the part's checksum once every required destination has the part, which can then be recorded. */
  readonly acknowledged: Promise<number>
  /** Resolves once it is certain whether the part is in the ledger; true if it is. */
  readonly recorded: Promise<boolean>
  /**
   * Resolves when no destination needs the bytes any longer. Undefined if that was already the case when the part was
   * acknowledged.
   */
  trailing: Promise<void> | undefined
  /** Abandons the destinations that still need the part's bytes. */
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

  /** Aborted when the part will not be recorded, so that no destination needs it. */
  get signal(): AbortSignal {
    return this.#failed.signal
  }

  /**
   * Notes that a destination has the part. Returns false if this is too late for the statement that records the part.
   */
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

  /** The ETag at each destination, for the statement that records the part. */
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

  /** Called if the writer lost the lease, or an earlier piece failed. */
  noteNotRecorded(): void {
    this.#recording.resolve(false)
  }
}
