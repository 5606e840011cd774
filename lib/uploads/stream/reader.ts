import type { MemoryAccount } from '../../upload-memory/memory-budget.ts'
import { PAGE_BYTES } from '../../upload-memory/page-pool.ts'
import type { Spillable } from '../../upload-memory/spill-slow-parts.ts'
import type { Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { PartBuffer } from './part-buffer.ts'
import type { Parts } from './parts.ts'
import type { ByteSource, Piece, Rest } from './pieces.ts'

type Options = {
  /** The maximum length of the body. A longer body is a client error. */
  limitBytes: number
  /** The destination of the pieces. The body is only read while there is room for another piece. */
  parts: Pick<Parts, 'room' | 'isIdle' | 'isAtomic' | 'signal'>
  /** Sees all bytes that are read. */
  check?: { update(bytes: Buffer): void } | undefined
}

/** The state of the source. */
type State =
  | { kind: 'unstarted' }
  | { kind: 'flowing' }
  | { kind: 'paused' }
  /** Paused until memory is available. */
  | { kind: 'starved' }
  /** Reading has stopped. `rest` is undefined if a part failed. */
  | { kind: 'over'; rest: Rest | undefined }

/** The piece that the caller is waiting for. Nothing is read before there is room for the piece. */
type Next = PromiseWithResolvers<Piece | Rest> & { hasRoom: boolean }

/**
 * Cuts a request's body into pieces. Memory is taken as bytes arrive, and the source is paused while no memory is
 * available, or while enough parts are in flight. A file's last bytes are always in the rest, because `finishUpload`
 * decides how to store them.
 */
export class Reader {
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #source: ByteSource
  readonly #limitBytes: number
  readonly #parts: Options['parts']
  readonly #check: Options['check']
  readonly #memory: MemoryAccount
  #buffer: PartBuffer
  /** The offsets at which the buffer starts, and at which its part will end. */
  #startOffset: number
  #targetOffset = 0
  #takenBytes = 0
  #state: State = { kind: 'unstarted' }
  #next: Next | undefined

  constructor(
    context: UploadContext,
    upload: Upload,
    source: ByteSource,
    { limitBytes, parts, check }: Options,
  ) {
    this.#context = context
    this.#upload = upload
    this.#source = source
    this.#limitBytes = limitBytes
    this.#parts = parts
    this.#check = check
    this.#memory = upload.memory
    this.#buffer = new PartBuffer(this.#memory)
    this.#startOffset = upload.progress.offsetBytes
    parts.signal.addEventListener('abort', this.#abort)
  }

  /**
   * Add each piece to the parts before requesting the next. Rejects with the first fault of the parts, or when the
   * lease is lost.
   */
  next(): Promise<Piece | Rest> {
    const next = { ...Promise.withResolvers<Piece | Rest>(), hasRoom: false }
    this.#next = next
    if (this.#state.kind === 'over' && this.#state.rest) next.resolve(this.#state.rest)
    else if (this.#parts.signal.aborted) this.#abort()
    else
      this.#parts
        .room()
        .then(() => this.#readOn(next))
        .catch(next.reject)
    return next.promise
  }

  dispose(): void {
    this.#end(undefined)
    // Node keeps a signal from AbortSignal.any, and everything its listener refers to, alive as long as it has a
    // listener.
    this.#parts.signal.removeEventListener('abort', this.#abort)
    this.#buffer.free()
  }

  #readOn(next: Next): void {
    if (this.#isOver) return
    next.hasRoom = true
    this.#targetOffset = this.#upload.numbers.targetOffset
    if (this.#state.kind === 'unstarted') this.#start()
    this.#regulate()
  }

  #start(): void {
    this.#state = { kind: 'flowing' }
    this.#source.start(this.#onChunk, this.#stop)
    // The lease delays this call until the bytes that have already arrived have been read, because stopping would drop
    // them.
    this.#upload.lease.onStop(this.#stop, {
      atomic: this.#parts.isAtomic,
      waitsForUs: () => this.#state.kind === 'paused' || this.#state.kind === 'starved',
    })
  }

  /** Returns how many bytes of the chunk were accepted. */
  readonly #onChunk = (chunk: Buffer): number => {
    if (this.#isOver) return chunk.length
    this.#upload.lease.touch()
    if (this.#takenBytes + chunk.length > this.#limitBytes) {
      this.#stop('overrun')
      return chunk.length
    }
    let taken = 0
    // Other requests may have used up the memory since this source was resumed.
    while (taken < chunk.length && this.#isWanted && !this.#memory.full) {
      const page = chunk.subarray(taken, taken + PAGE_BYTES)
      this.#takePage(page)
      taken += page.length
    }
    this.#takenBytes += taken
    this.#check?.update(chunk.subarray(0, taken))
    this.#regulate()
    return taken
  }

  #takePage(page: Buffer): void {
    const missingBytes = Math.max(this.#targetOffset - this.#endOffset, 0)
    this.#push(page.subarray(0, missingBytes))
    if (this.#endOffset < this.#targetOffset || this.#isLast) return
    this.#handOver({ kind: 'part', buffer: this.#buffer })
    // Every part except the last has 5 MiB or more, so the rest of the page is sure to fit into the next one.
    if (page.length > missingBytes) this.#push(page.subarray(missingBytes))
  }

  #push(bytes: Buffer): void {
    if (this.#buffer.bytes === 0) this.#memory.offer(this.#spillable)
    this.#buffer.push(bytes, this.#context.clock.now())
    this.#upload.hash?.update(bytes)
  }

  get #endOffset(): number {
    return this.#startOffset + this.#buffer.bytes
  }

  get #isLast(): boolean {
    return this.#endOffset === this.#upload.progress.lengthBytes
  }

  get #isOver(): boolean {
    return this.#state.kind === 'over'
  }

  get #isWanted(): boolean {
    return this.#next?.hasRoom === true && !this.#isOver
  }

  #handOver(piece: Piece): void {
    const next = this.#next!
    piece.buffer.hashed = this.#upload.hash?.at(piece.buffer.chunks, { isEnd: false })
    this.#memory.withdraw(this.#spillable)
    this.#startOffset += piece.buffer.bytes
    this.#buffer = new PartBuffer(this.#memory)
    this.#next = undefined
    next.resolve(piece)
  }

  readonly #spillable: Spillable = {
    // A tail cannot be recorded before a part that is in flight, and the file's last bytes are left to `finishUpload`.
    heldBytes: () => (this.#isWanted && this.#parts.isIdle && !this.#isLast ? this.#buffer.heldBytes : 0),
    sinceMs: () => this.#buffer.sinceMs,
    spill: async () => {
      if (!this.#isWanted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#handOver({ kind: 'spill', buffer: this.#buffer, stored: resolve })
      await promise
    },
  }

  #regulate(): void {
    const { kind } = this.#state
    if (kind === 'over') return
    // Never pause after the last byte, or `end` will not fire.
    const mayFlow = this.#isLast || (this.#isWanted && !this.#memory.full)
    if (mayFlow && kind !== 'flowing') {
      this.#state = { kind: 'flowing' }
      this.#source.resume()
    } else if (!mayFlow) {
      if (kind === 'flowing') {
        this.#state = { kind: 'paused' }
        this.#source.pause()
      }
      if (kind !== 'starved' && this.#isWanted) this.#waitForMemory()
    }
  }

  #waitForMemory(): void {
    this.#state = { kind: 'starved' }
    this.#memory.whenFree(() => {
      if (this.#state.kind === 'starved') this.#state = { kind: 'paused' }
      this.#regulate()
    })
  }

  readonly #stop = (why: Rest['why']): void => {
    if (this.#isOver) return
    const rest: Rest = { kind: 'rest', buffer: this.#buffer, why }
    this.#end(rest)
    this.#next?.resolve(rest)
  }

  readonly #abort = (): void => {
    if (this.#state.kind === 'over' && this.#state.rest) return
    this.#end(undefined)
    this.#next?.reject(this.#parts.signal.reason)
  }

  #end(rest: Rest | undefined): void {
    if (this.#isOver) return
    this.#state = { kind: 'over', rest }
    this.#memory.withdraw(this.#spillable)
    this.#source.stop()
  }
}
