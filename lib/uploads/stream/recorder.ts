import { SluiceError } from '../../platform/kernel/errors.ts'
import { type Advance, advance } from '../ledger/offsets.ts'
import { bindParts } from '../ledger/part-rows.ts'
import type { Confirmed, Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'

/** Changes recorded together with a request's last piece. */
export type Attached = Pick<Advance, 'become' | 'release' | 'note'> & {
  /** Records the piece instead of `advance`. */
  advance?: typeof advance
}

/**
 * Records durable pieces in the ledger one after another, so that the offset never passes a gap. After the first
 * fault, nothing more is recorded. For an atomic request, nothing is recorded before `commit`.
 */
export class Recorder {
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #commit: (bound: Promise<void>) => void
  #last: Promise<void>
  /**
   * The last statement that binds numbers before the commit. After the commit, statements simply follow one another.
   */
  #lastBinding: Promise<void> = Promise.resolve()
  #isCommitted: boolean
  /** The type detected from the file's first bytes. It is recorded with the next piece, to avoid a separate statement. */
  foundType: string | undefined

  constructor(context: UploadContext, upload: Upload, { atomic }: { atomic: boolean }) {
    this.#context = context
    this.#upload = upload
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#commit = resolve
    this.#last = atomic ? promise : Promise.resolve()
    this.#isCommitted = !atomic
  }

  /** False for an atomic request before `commit`: if the request ended now, none of its pieces would be recorded. */
  get isCommitted(): boolean {
    return this.#isCommitted
  }

  /** Starts to record the pieces of an atomic request. */
  commit(): void {
    // A request that is not atomic does not await this promise, so a failed binding would end the process.
    if (this.#isCommitted) return
    this.#isCommitted = true
    this.#commit(this.#lastBinding)
  }

  /** Resolves when all pieces are recorded; rejects with the first fault. */
  get recorded(): Promise<void> {
    return this.#last
  }

  /** Calls `record` once everything before it is recorded. */
  inOrder(record: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(record)
    return this.#last
  }

  async write({
    advance: record = advance,
    ...change
  }: Omit<Advance, 'fromBytes' | 'bound' | 'unreserved' | 'foundType' | 'laneOf'> & Attached): Promise<void> {
    const { db, clock, quota } = this.#context
    const { lease, numbers, progress, fileId, isLane } = this.#upload
    const { offsetBytes: fromBytes, lengthBytes } = progress
    const bound = this.#boundWith(change)
    const unreserved = lengthBytes === null ? quota : undefined
    const nowMs = clock.now()
    const { foundType } = this
    const laneOf = isLane ? fileId : undefined
    const advanced = { fromBytes, unreserved, foundType, laneOf, ...(bound && { bound }), ...change }
    await lease.whileHeld(record(db, lease, advanced, nowMs))
    if (foundType !== undefined) this.foundType = undefined
    if (bound) numbers.bindingWritten(bound)
    const isTail = change.tail !== undefined
    const tailBytes = change.part ? 0 : progress.tailBytes + (isTail ? change.toBytes - fromBytes : 0)
    this.#move({ offsetBytes: change.toBytes, crc32: change.crc32, tailBytes }, nowMs)
    if (change.release) lease.forget()
  }

  /** For a file stored by a single PutObject. `record` writes everything about the file to the ledger. */
  async writeWhole(whole: Omit<Confirmed, 'tailBytes'>, record: () => Promise<void>): Promise<void> {
    const nowMs = this.#context.clock.now()
    await record()
    this.#move({ ...whole, tailBytes: 0 }, nowMs)
  }

  /** The only code that moves an upload's confirmed offset. Called once the ledger has committed the new offset. */
  #move(confirmed: Confirmed, nowMs: number): void {
    const { progress } = this.#upload
    this.#context.metrics.uploadBytes.inc(confirmed.offsetBytes - progress.offsetBytes)
    progress.moveTo(confirmed, nowMs)
  }

  #boundWith({ part, release }: Pick<Advance, 'part' | 'release'>) {
    const { numbers } = this.#upload
    const when = { recording: part !== undefined }
    if (release) return numbers.boundAfterRelease(when)
    return part && numbers.toBind(when)
  }

  /**
   * Resolves when the ledger has bound the number to its part's range. Usually, the number was bound in advance.
   * Otherwise, it is bound when the preceding pieces are recorded, or in a separate statement if there are none.
   */
  bind(number: number): Promise<void> {
    const { lease, numbers, limits } = this.#upload
    if (number > limits.maxParts) return Promise.reject(tooManyParts(limits.maxParts))
    if (numbers.isBound(number)) return Promise.resolve()
    const bound = (this.#isCommitted ? this.#last : this.#lastBinding).then(async () => {
      if (numbers.isBound(number)) return
      const toBind = numbers.toBind()
      await lease.whileHeld(bindParts(this.#context.db, lease, toBind))
      numbers.bindingWritten(toBind)
    })
    this.#lastBinding = bound
    return bound
  }
}

function tooManyParts(maxParts: number): SluiceError {
  return new SluiceError(
    'parts_used_up',
    `The bucket's provider allows ${maxParts} parts, and this upload has used all of them. Start a new upload.`,
  )
}
