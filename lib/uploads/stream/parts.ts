import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import type { MemoryAccount } from '../memory/memory-budget.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { OpenUpload } from '../open-upload.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Piece, Rest } from './piece.ts'
import { type Attached, Recorder } from './recorder.ts'
import { Sender } from './sender.ts'
import { Tails } from './tails.ts'

type Waiting = { buffer: PartBuffer; fromBytes: number }

/**
 * The pieces of one request on their way to becoming durable. A piece that may be a part is sent to the bucket; any other
 * becomes a tail, with which the next part begins. The ledger records them in order, and each keeps its buffer until then.
 *
 * An atomic request counts entirely or not at all: nothing is recorded before `commit`. Until then parts are sent and
 * tails staged as usual, and their buffers are freed after that.
 */
export class Parts {
  readonly isAtomic: boolean
  /** Fires with the first fault, or when the lease is lost: no more bytes are wanted. */
  readonly signal: AbortSignal
  readonly #context: UploadContext
  readonly #upload: OpenUpload
  readonly #memory: MemoryAccount
  readonly #recorder: Recorder
  readonly #sender: Sender
  readonly #tails: Tails
  readonly #faults = new AbortController()
  readonly #waiting: Waiting[] = []
  #endOffset: number
  #tailBytes: number
  #sentParts = 0
  #freed = Promise.withResolvers<void>()
  /** Resolves when the database has the tail that the next part begins with. */
  #tailStored: Promise<void> = Promise.resolve()
  /** The last piece, while it is a part that is not being recorded yet. */
  #lastPart: { attached: Attached } | undefined

  constructor(context: UploadContext, upload: OpenUpload, { atomic }: { atomic: boolean }) {
    this.#context = context
    this.#upload = upload
    this.#memory = context.budget.account(upload.bucket)
    this.#recorder = new Recorder(context, upload, { atomic })
    this.#sender = new Sender(context, upload)
    this.#tails = new Tails(context, upload, this.#recorder)
    this.isAtomic = atomic
    this.signal = AbortSignal.any([upload.lease.signal, this.#faults.signal])
    this.#endOffset = upload.offsetBytes
    this.#tailBytes = upload.tailBytes
  }

  /** Where the upload stands once all pieces are recorded. */
  get endOffset(): number {
    return this.#endOffset
  }

  /** Bytes of tail that the next part begins with. */
  get tailBytes(): number {
    return this.#tailBytes
  }

  /** How many parts were given to the sender. */
  get sentParts(): number {
    return this.#sentParts
  }

  /** False while an atomic request has not committed: none of its pieces would count if it ended now. */
  get isCommitted(): boolean {
    return this.#recorder.isCommitted
  }

  /** No piece is on its way. */
  get isIdle(): boolean {
    return this.#waiting.length === 0
  }

  /** The first piece that is not recorded. */
  get oldest(): Waiting | undefined {
    return this.#waiting[0]
  }

  /** Resolves when another part may be read. */
  async room(): Promise<void> {
    while (this.#waiting.length >= this.#context.terms.partsInFlight) await this.#freed.promise
  }

  add(piece: Exclude<Piece, Rest>): void {
    const { buffer } = piece
    if (piece.kind === 'part') this.send(buffer)
    else if (this.mayEndWith(buffer)) {
      this.send(buffer)
      piece.stored()
    } else piece.stored(this.keep(buffer))
  }

  /** Whether a part may end with these bytes, or they have to be a tail. */
  mayEndWith({ bytes }: PartBuffer): boolean {
    return this.#upload.numbers.mayEndAt(this.#endOffset + bytes)
  }

  /** Sends a part: the tail, if there is one, and these bytes. */
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
    const bound = this.#recorder.bind(number)
    const sending = this.#sender.send(number, buffer, tail, bound)
    bound.catch(this.#fail)
    // The parts of an atomic request are recorded at its end, and must not keep their memory until then.
    sending.then(() => this.isAtomic && this.#free(buffer), this.#fail)
    const last = { attached }
    this.#lastPart = last
    this.#tailBytes = 0
    this.#sentParts += 1
    this.#recordInOrder(buffer, async () => {
      const sent = await sending
      if (this.#lastPart === last) this.#lastPart = undefined
      const crc = combineCrc32(upload.crc32, buffer.crc32, buffer.bytes)
      const part = { number, offsetBytes, sizeBytes: toBytes - offsetBytes, ...sent }
      await this.#recorder.write({ toBytes, crc32: crc, part, ...last.attached })
      upload.tailBytes = 0
      this.#context.checkpoint('part recorded')
    })
  }

  /** Resolves when the database has the bytes. Without `attached` the client is still sending. */
  keep(buffer: PartBuffer, attached?: Attached): Promise<void> {
    this.#lastPart = undefined
    this.#tailBytes += buffer.bytes
    if (this.isCommitted) {
      this.#tailStored = this.#recordInOrder(buffer, () => this.#tails.record(buffer, attached))
    } else {
      const staged = this.#tails.stage(this.#endOffset, buffer)
      staged.then(() => this.#free(buffer), this.#fail)
      this.#tailStored = staged
      this.#recordInOrder(buffer, () => staged.then(() => this.#tails.recordStaged(buffer)))
    }
    return this.#tailStored
  }

  /** Records a piece that could not be sent as a tail. For use after a fault, when nothing else is recorded any more. */
  recordAsTail(buffer: PartBuffer, attached: Attached): Promise<void> {
    return this.#tails.record(buffer, attached)
  }

  /** Records the change together with the last part. False if there is none, or it is being recorded already. */
  attachToLastPart(change: Attached): boolean {
    if (!this.#lastPart) return false
    this.#lastPart.attached = change
    return true
  }

  /** Makes an atomic request count: its pieces are recorded from now on. */
  commit(): void {
    this.#recorder.commit()
  }

  /** Resolves when all pieces are recorded; rejects with the first fault. */
  recorded(): Promise<void> {
    return this.#recorder.settled
  }

  /** Resolves when the bucket has answered for every part, or failed to. */
  answered(): Promise<void> {
    return this.#sender.answered()
  }

  /** Sends no more parts: their numbers may be bound to other ranges from now on. */
  close(): void {
    this.#sender.close()
  }

  /** Aborts what is being sent, and frees all buffers. What the numbers were bound to stays in the ledger. */
  dispose(): void {
    this.#sender.abort()
    for (const { buffer } of [...this.#waiting]) this.#free(buffer)
  }

  #recordInOrder(buffer: PartBuffer, record: () => Promise<void>): Promise<void> {
    this.#waiting.push({ buffer, fromBytes: this.#endOffset })
    this.#memory.leaving(buffer.bytes)
    this.#endOffset += buffer.bytes
    const recorded = this.#recorder.inOrder(() => record().then(() => this.#free(buffer)))
    recorded.catch(this.#fail)
    return recorded
  }

  #free(buffer: PartBuffer): void {
    const at = this.#waiting.findIndex((waiting) => waiting.buffer === buffer)
    if (at < 0) return
    this.#waiting.splice(at, 1)
    this.#memory.leaving(-buffer.bytes)
    buffer.free()
    this.#freed.resolve()
    this.#freed = Promise.withResolvers()
  }

  readonly #fail = (fault: unknown): void => this.#faults.abort(fault)
}
