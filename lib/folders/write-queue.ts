import { SluiceError } from '../platform/kernel/errors.ts'
import type { ByteSource } from '../uploads/stream/pieces.ts'

/** The memory for writes that arrived ahead of a missing byte, across all files in this process, and its limit. */
export type AheadBudget = { bytes: number; readonly mostBytes: number }

/** A write counts as at least this much, because even one byte needs a buffer and an entry in a map. */
const LEAST_BYTES = 1024

type Options = {
  /** The offset at which the confirmed bytes end. */
  offsetBytes: number
  aheadBytes: number
  allAhead: AheadBudget
  idleMs: number
}

/** `done` is called without an error once the bytes have been taken, otherwise with the reason why not. */
type Write = { data: Buffer; done: (error?: unknown) => void }
type Taker = { onChunk(chunk: Buffer): number; onEnd(how: 'end' | 'cut'): void }
type State = { kind: 'idle' } | { kind: 'flowing' | 'paused'; taker: Taker }

/**
 * The writes to an open file, as a stream of bytes. Clients keep several writes in flight, which may arrive out of
 * order within a window. The queue stays short, because a connection is not read while one of its writes has not been
 * taken. The queue may be started repeatedly, because the upload may be released and acquired again.
 */
export class WriteQueue implements ByteSource {
  readonly #options: Options
  readonly #inOrder: Write[] = []
  readonly #ahead = new Map<number, Buffer>()
  #takenOffset: number
  /** The offset of the next missing byte. */
  #endOffset: number
  #state: State = { kind: 'idle' }
  #end: 'end' | 'cut' | undefined
  #isDelivering = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
    this.#takenOffset = options.offsetBytes
    this.#endOffset = options.offsetBytes
  }

  /** All bytes before this offset have been taken or were already confirmed. */
  get takenOffset(): number {
    return this.#takenOffset
  }

  get endOffset(): number {
    return this.#endOffset
  }

  get hasUntaken(): boolean {
    return this.#inOrder.length > 0
  }

  /** The first range of missing bytes before bytes that have arrived, if any. */
  get gap(): { fromBytes: number; toBytes: number } | undefined {
    if (this.#ahead.size === 0) return undefined
    const toBytes = [...this.#ahead.keys()].reduce((first, offset) => Math.min(first, offset))
    return { fromBytes: this.#endOffset, toBytes }
  }

  add(offset: number, data: Buffer, done: Write['done']): void {
    this.#timer?.refresh()
    if (data.length === 0 || offset !== this.#endOffset) {
      done(data.length === 0 ? undefined : this.#keepAhead(offset, data))
      return
    }
    this.#push(data, done)
    for (;;) {
      const next = this.#ahead.get(this.#endOffset)
      if (!next) break
      this.#forget(this.#endOffset, next)
      this.#push(next, () => {})
    }
    this.#deliver()
  }

  /** Called when no more writes will arrive. */
  finish(how: 'end' | 'cut'): void {
    this.#end = how
    this.#endIfOver()
  }

  /** Fails all writes that have not been taken, and discards those that are ahead of a missing byte. */
  drop(error: unknown): void {
    for (const { done } of this.#inOrder.splice(0)) done(error)
    for (const [offset, data] of this.#ahead) this.#forget(offset, data)
  }

  start(onChunk: Taker['onChunk'], onEnd: Taker['onEnd']): void {
    this.#state = { kind: 'paused', taker: { onChunk, onEnd } }
    this.resume()
  }

  pause(): void {
    if (this.#state.kind === 'flowing') this.#state = { ...this.#state, kind: 'paused' }
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  resume(): void {
    if (this.#state.kind !== 'paused') return
    this.#state = { ...this.#state, kind: 'flowing' }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#endWith('cut'), this.#options.idleMs)
    this.#deliver()
  }

  stop(): void {
    this.pause()
    this.#state = { kind: 'idle' }
  }

  #push(data: Buffer, done: Write['done']): void {
    this.#inOrder.push({ data, done })
    this.#endOffset += data.length
  }

  /** Keeps a write that is ahead of a missing byte, or returns why that is not possible. */
  #keepAhead(offset: number, data: Buffer): SluiceError | undefined {
    const { aheadBytes, allAhead } = this.#options
    if (!(offset > this.#endOffset) || this.#ahead.has(offset))
      return misplaced(`byte ${offset} was written before; the next byte is ${this.#endOffset}`)
    if (offset + data.length > this.#endOffset + aheadBytes)
      return misplaced(
        `byte ${this.#endOffset} is missing, and a write may be at most ${aheadBytes} bytes ahead of it. Files are written from the start to the end`,
      )
    if (allAhead.bytes + costOf(data) > allAhead.mostBytes)
      return misplaced('too many clients are writing out of order right now. Write in order, or try again')
    this.#ahead.set(offset, copyOf(data))
    allAhead.bytes += costOf(data)
    return undefined
  }

  #forget(offset: number, data: Buffer): void {
    this.#ahead.delete(offset)
    this.#options.allAhead.bytes -= costOf(data)
  }

  #deliver(): void {
    if (this.#isDelivering) return
    this.#isDelivering = true
    while (this.#state.kind === 'flowing' && this.#inOrder.length > 0) {
      const write = this.#inOrder[0]!
      const taken = this.#state.taker.onChunk(write.data)
      this.#takenOffset += taken
      if (taken < write.data.length) write.data = write.data.subarray(taken)
      else {
        this.#inOrder.shift()!.done()
        discard(write.data)
      }
    }
    this.#isDelivering = false
    this.#endIfOver()
  }

  #endIfOver(): void {
    if (this.#end === 'cut' || (this.#end === 'end' && !this.hasUntaken)) this.#endWith(this.#end)
  }

  #endWith(how: 'end' | 'cut'): void {
    if (this.#state.kind === 'idle') return
    const { taker } = this.#state
    this.stop()
    taker.onEnd(how)
  }
}

/**
 * The number of bytes in front of a write's data in ssh2's request buffer: the type, the id, the handle, the offset and
 * the length of the data.
 */
const REQUEST_BYTES = 1 + 4 + (4 + 4) + 8 + 4

/**
 * Immediately frees the buffer of a request, unless it shares the buffer with others. If this is left to V8, these
 * buffers cause more garbage collections than everything else that is done with the bytes.
 */
function discard({ buffer, byteOffset, byteLength }: Buffer): void {
  const isOwn = byteOffset === REQUEST_BYTES && byteOffset + byteLength === buffer.byteLength
  if (isOwn && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

const costOf = ({ length }: Buffer): number => Math.max(length, LEAST_BYTES)

/** In a buffer of its own: the data may be a small part of a larger buffer, which would be kept along with it. */
function copyOf(data: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(data.length)
  data.copy(copy)
  return copy
}

function misplaced(why: string): SluiceError {
  return new SluiceError('offset_conflict', `The write is out of place: ${why}.`)
}
