import type { IncomingMessage } from 'node:http'
import { freeBuffer } from '../../platform/kernel/free-buffer.ts'
import { inThisRequest } from '../../platform/kernel/request-context.ts'
import { isTracing } from '../../platform/tracing/span.ts'
import type { ByteSource } from './pieces.ts'
import { SlowReads } from './slow-reads.ts'

/**
 * A client that sends nothing for this long is presumed gone, even if its connection is open. (Node's own limit is
 * off.) This is shorter than the timeouts of the balancers in `deploy`, whose error would not help the client.
 */
export const IDLE_MS = 100_000
/** How much is buffered before reading starts: no more than Node itself would buffer. */
const EARLY_BYTES = 65_536

/** The consumer of the bytes. */
type Taker = { onChunk(chunk: Buffer): number; onEnd(how: 'end' | 'cut'): void }

type State =
  /** There is no consumer yet, and a little is buffered. */
  { kind: 'early' } | { kind: 'flowing' | 'paused'; taker: Taker } | { kind: 'stopped' }

/**
 * The body as Node reads it, without a web stream and without a copy. Because Node drops unread bytes when a client
 * disconnects, listening starts immediately, unless the client is waiting for 100 Continue (RFC 9110, 10.1.1). The little
 * that arrives before the token is checked is not counted as upload memory.
 */
export class RequestSource implements ByteSource {
  readonly #body: IncomingMessage
  /** Chunks that arrived before reading started, or while there was no memory for them. */
  readonly #untaken: Buffer[] = []
  #state: State = { kind: 'early' }
  /** The consumer's current chunk. The consumer may pause and resume in the middle of it. */
  #taking: Buffer | undefined
  /** How the body ended. Some of its chunks may not have been taken yet. */
  #ended: 'end' | 'cut' | undefined
  #idle: NodeJS.Timeout | undefined
  #slowReads: SlowReads | undefined

  constructor(body: IncomingMessage) {
    this.#body = body
    if (!body.headers?.expect) this.#listen()
  }

  start(onChunk: (chunk: Buffer) => number, onEnd: (how: 'end' | 'cut') => void): void {
    // The socket and the budget call these functions in a different request's context, or in none. Restoring the
    // context costs half a microsecond.
    const taker: Taker = {
      onChunk: isTracing() ? inThisRequest(onChunk) : onChunk,
      onEnd: inThisRequest((how: 'end' | 'cut') => {
        this.stop()
        onEnd(how)
      }),
    }
    this.#state = { kind: 'paused', taker }
    this.#slowReads = SlowReads.of(this.#body)
    this.#listen()
    this.resume()
  }

  pause(): void {
    if (this.#state.kind === 'flowing') this.#state = { ...this.#state, kind: 'paused' }
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#body.pause()
  }

  resume(): void {
    if (this.#state.kind !== 'paused') return
    this.#state = { ...this.#state, kind: 'flowing' }
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#body.destroy(), IDLE_MS)
    this.#deliver()
    // The consumer may have paused the source again while taking the chunks.
    if (this.#flows) this.#body.resume()
  }

  /**
   * Stops passing bytes to the consumer. `respond` drains the remaining bytes, so that the client gets to read the
   * response.
   */
  stop(): void {
    this.pause()
    this.#body.off('data', this.#take)
    this.#untaken.length = 0
    this.#state = { kind: 'stopped' }
    this.#slowReads?.stop()
  }

  get #flows(): boolean {
    return this.#state.kind === 'flowing'
  }

  #listen(): void {
    if (this.#body.listeners('data').includes(this.#take)) return
    this.#body.on('data', this.#take).on('end', this.#finish).on('close', this.#cut).on('error', this.#cut)
  }

  readonly #take = (chunk: Buffer): void => {
    this.#idle?.refresh()
    this.#slowReads?.read(chunk.length)
    this.#untaken.push(chunk)
    if (this.#flows) this.#deliver()
    else if (bytesOf(this.#untaken) >= EARLY_BYTES) this.#body.pause()
  }

  readonly #finish = (): void => this.#endWith('end')
  readonly #cut = (): void => this.#endWith('cut')

  #endWith(how: 'end' | 'cut'): void {
    this.#ended ??= how
    this.#deliver()
  }

  #deliver(): void {
    if (this.#taking) return
    while (this.#state.kind === 'flowing' && this.#untaken.length > 0) {
      this.#taking = this.#untaken.shift()!
      const taken = this.#state.taker.onChunk(this.#taking)
      if (taken < this.#taking.length) this.#untaken.unshift(this.#taking.subarray(taken))
      else freeBuffer(this.#taking)
    }
    this.#taking = undefined
    this.#endIfOver()
  }

  /**
   * An interrupted request ends immediately, even if bytes are still waiting for memory: another request may want to
   * continue the upload.
   */
  #endIfOver(): void {
    const state = this.#state
    if (state.kind !== 'flowing' && state.kind !== 'paused') return
    if (this.#ended === 'cut' || (this.#ended && this.#untaken.length === 0)) state.taker.onEnd(this.#ended)
  }
}

const bytesOf = (chunks: readonly Buffer[]): number => chunks.reduce((sum, { length }) => sum + length, 0)
