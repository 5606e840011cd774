import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { within } from '../../platform/kernel/waits.ts'
import type { MemoryAccount } from '../../upload-memory/memory-budget.ts'
import type { Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import type { PartBuffer } from './part-buffer.ts'
import type { PartInFlight } from './part-in-flight.ts'
import type { Piece } from './pieces.ts'
import { type Attached, Recorder } from './recorder.ts'
import { Senders } from './senders.ts'
import { Tails } from './tails.ts'

/** A larger part is not salvaged after a fault, because its client can send it again. */
const MAX_SALVAGE_BYTES = 16 * 1024 * 1024

type Waiting = { buffer: PartBuffer; fromBytes: number }

/**
 * Makes one request's pieces durable. A piece that can be a part is sent to the bucket; any other piece becomes a tail,
 * with which the next part starts. The ledger records the pieces in order, and their buffers are freed afterwards.
 *
 * An atomic request takes effect entirely or not at all: nothing is recorded before `commit`. Its parts are sent and
 * its tails staged before that, and their buffers are freed immediately.
 */
export class Parts {
  readonly isAtomic: boolean
  /** Records the pieces. Those of an atomic request wait until it is committed. */
  readonly recorder: Recorder
  /** Aborted by the first fault, or when the lease is lost, so that reading stops. */
  readonly signal: AbortSignal
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #memory: MemoryAccount
  readonly #senders: Senders
  readonly #tails: Tails
  readonly #faults = new AbortController()
  readonly #waiting: Waiting[] = []
  #endOffset: number
  #endCrc32: number
  #tailBytes: number
  #sentParts = 0
  #freed = Promise.withResolvers<void>()
  /** Resolves when the database has the next part's leading tail. */
  #tailStored: Promise<void> = Promise.resolve()
  /** The last piece, if it is a part that is not being recorded yet. */
  #lastPart: { attached: Attached } | undefined

  constructor(context: UploadContext, upload: Upload, { atomic }: { atomic: boolean }) {
    this.#context = context
    this.#upload = upload
    this.#memory = upload.memory
    this.recorder = new Recorder(context, upload, { atomic })
    this.#senders = new Senders(context, upload)
    this.#tails = new Tails(context, upload, this.recorder)
    this.isAtomic = atomic
    this.signal = AbortSignal.any([upload.lease.signal, this.#faults.signal])
    this.#endOffset = upload.progress.offsetBytes
    this.#endCrc32 = upload.progress.crc32
    this.#tailBytes = upload.progress.tailBytes
  }

  /** The offset once all pieces are recorded. */
  get endOffset(): number {
    return this.#endOffset
  }

  /** The checksum of all bytes before `endOffset`. */
  get endCrc32(): number {
    return this.#endCrc32
  }

  /** Tail bytes at the start of the next part. */
  get tailBytes(): number {
    return this.#tailBytes
  }

  /** How many parts this request has sent, or is about to send. */
  get sentParts(): number {
    return this.#sentParts
  }

  /** True if all pieces are recorded. */
  get isIdle(): boolean {
    return this.#waiting.length === 0
  }

  /** Resolves when another part can be read. */
  async room(): Promise<void> {
    while (this.#waiting.length >= this.#context.terms.partsInFlight) await this.#freed.promise
  }

  add(piece: Piece): void {
    const { buffer } = piece
    if (piece.kind === 'part') this.send(buffer)
    else if (this.mayEndWith(buffer)) {
      this.send(buffer)
      piece.stored()
    } else piece.stored(this.storeAsTail(buffer))
  }

  /** Whether a part may end with these bytes. If not, they become a tail. */
  mayEndWith({ bytes }: PartBuffer): boolean {
    return this.#upload.numbers.mayEndAt(this.#endOffset + bytes)
  }

  /** Sends a part that consists of the tail, if any, and these bytes. */
  send(buffer: PartBuffer, attached: Attached = {}): void {
    const upload = this.#upload
    const tail = {
      fromBytes: this.#endOffset - this.#tailBytes,
      toBytes: this.#endOffset,
      stored: this.#tailStored,
    }
    const offsetBytes = tail.fromBytes
    const toBytes = this.#endOffset + buffer.bytes
    const number = upload.numbers.take(toBytes)
    const bound = this.recorder.bind(number)
    const inFlight = this.#senders.send(number, buffer, tail, bound)
    bound.catch(this.#fail)
    // An atomic request's parts are recorded at its end, and must not hold memory until then.
    inFlight.acknowledged.then(() => this.isAtomic && this.#free(buffer, inFlight.trailing), this.#fail)
    const last = { attached }
    this.#lastPart = last
    this.#tailBytes = 0
    this.#sentParts += 1
    const record = async () => {
      const ofPart = await inFlight.acknowledged
      if (this.#lastPart === last) this.#lastPart = undefined
      const crc = combineCrc32(upload.progress.crc32, buffer.crc32, buffer.bytes)
      const sizeBytes = toBytes - offsetBytes
      const part = { number, offsetBytes, sizeBytes, etags: inFlight.takeEtags(), crc32: ofPart }
      await this.recorder.write({ toBytes, crc32: crc, part, hashed: buffer.hashed, ...last.attached })
      inFlight.noteRecorded()
      this.#context.checkpoint('part recorded')
    }
    this.#recordInOrder(buffer, record, inFlight)
  }

  /** Stores bytes as a tail. Resolves when the database has them. Without `attached`, the client is still sending. */
  storeAsTail(buffer: PartBuffer, attached?: Attached): Promise<void> {
    this.#lastPart = undefined
    this.#tailBytes += buffer.bytes
    if (this.recorder.isCommitted) {
      this.#tailStored = this.#recordInOrder(buffer, () => this.#tails.record(buffer, attached))
    } else {
      const staged = this.#tails.stage(this.#endOffset, buffer)
      staged.then(() => this.#free(buffer), this.#fail)
      this.#tailStored = staged
      this.#recordInOrder(buffer, () => staged.then(() => this.#tails.recordStaged(buffer)))
    }
    return this.#tailStored
  }

  /**
   * Adds the last bytes of a request that does not complete the file. They become a smaller part if the rules allow
   * it, otherwise a tail. `attached` is recorded with them or, if there are none, with the last part.
   */
  addLast(buffer: PartBuffer, attached: Attached): void {
    if (buffer.bytes > 0 && this.mayEndWith(buffer)) this.send(buffer, attached)
    else if (buffer.bytes > 0 || !this.#attachToLastPart(attached)) void this.storeAsTail(buffer, attached)
  }

  /**
   * After a bucket fault, stores the part that could not be sent as a tail. True if that completes a file that may
   * finish.
   */
  async salvage({ mayFinish }: { mayFinish: boolean }): Promise<boolean> {
    if (!this.recorder.isCommitted) return false
    // Parts before the failed part may still be recorded. After that, the failed part is the oldest.
    await Promise.allSettled([this.recorder.recorded])
    const [oldest] = this.#waiting
    if (!oldest || oldest.buffer.bytes === 0 || oldest.buffer.bytes > MAX_SALVAGE_BYTES) return false
    const { offsetBytes, lengthBytes } = this.#upload.progress
    // If the database also failed, the part might not start at the confirmed offset.
    if (oldest.fromBytes !== offsetBytes) return false
    const isLast = mayFinish && offsetBytes + oldest.buffer.bytes === lengthBytes
    // A lane is complete once its last part is in the buckets.
    if (isLast && this.#upload.isLane) return false
    await this.#tails.record(
      oldest.buffer,
      isLast ? { become: 'transferring', release: { interrupted: false } } : {},
    )
    return isLast
  }

  /**
   * Ends a request without its remaining pieces. An uncommitted atomic request records nothing, and no more of it is
   * sent to the bucket.
   */
  async discard(): Promise<void> {
    // Rejected bytes must not reach the bucket after the bytes that replace them.
    if (!this.recorder.isCommitted) await this.responded()
    this.#senders.close()
  }

  /** Resolves when the bucket has responded to every request, or has had enough time. */
  async responded(): Promise<void> {
    await within(this.#context.terms.lateResponseMs, this.#senders.responded())
  }

  /** Aborts requests in flight and frees all buffers. The numbers stay bound in the ledger. */
  dispose(): void {
    this.#senders.abort()
    for (const { buffer } of [...this.#waiting]) this.#free(buffer)
  }

  /**
   * Records the change together with the last part. False if there is no such part, or if it is already being recorded.
   */
  #attachToLastPart(change: Attached): boolean {
    if (!this.#lastPart) return false
    this.#lastPart.attached = change
    return true
  }

  #recordInOrder(buffer: PartBuffer, record: () => Promise<void>, inFlight?: PartInFlight): Promise<void> {
    this.#waiting.push({ buffer, fromBytes: this.#endOffset })
    this.#memory.leaving(buffer.bytes)
    this.#endOffset += buffer.bytes
    this.#endCrc32 = combineCrc32(this.#endCrc32, buffer.crc32, buffer.bytes)
    const recorded = this.recorder.inOrder(() => record().then(() => this.#free(buffer, inFlight?.trailing)))
    recorded.catch((fault) => {
      inFlight?.noteNotRecorded()
      this.#fail(fault)
    })
    return recorded
  }

  /** `trailing` resolves when no destination needs the bytes any longer. */
  #free(buffer: PartBuffer, trailing?: Promise<void>): void {
    const at = this.#waiting.findIndex((waiting) => waiting.buffer === buffer)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    this.#memory.leaving(-buffer.bytes)
    if (trailing) buffer.keepUntil(trailing)
    buffer.free()
    this.#freed.resolve()
    this.#freed = Promise.withResolvers()
  }

  readonly #fail = (fault: unknown): void => this.#faults.abort(fault)
}
