import type { IncomingMessage } from 'node:http'
import { inThisRequest } from '../../platform/kernel/request-context.ts'
import { isTracing } from '../../platform/tracing/span.ts'
import type { ByteSource } from '../../uploads/byte-source.ts'

/**
 * A client that sends nothing for this long is gone, whatever its connection says. Node's own limit is off. Less than
 * balancers wait: they could only say that something broke.
 */
export const IDLE_MS = 100_000
/** Smaller ones do not matter, and may lie in a buffer with others. */
const DISCARDED_BYTES = 16_384
/** What is taken before anybody wants it; Node itself would hold as much. */
const EARLY_BYTES = 65_536

/**
 * The body as Node reads it: no web stream, no copy. It is listened to from the first moment, since Node throws away what
 * nobody has read when a client hangs up; unless the client itself waits for leave to send (RFC 9110, 10.1.1).
 */
export class RequestSource implements ByteSource {
  readonly #body: IncomingMessage
  /** What came before anybody wanted it, or when there was no memory for it. */
  readonly #untaken: Buffer[] = []
  #earlyBytes = 0
  #flows = false
  #isDelivering = false
  #ended: 'end' | 'cut' | undefined
  #idle: NodeJS.Timeout | undefined
  #onChunk = (_: Buffer): number => 0
  #onEnd = (_: 'end' | 'cut'): void => {}

  constructor(body: IncomingMessage) {
    this.#body = body
    if (!body.headers?.expect) this.#listen()
  }

  start(onChunk: (chunk: Buffer) => number, onEnd: (how: 'end' | 'cut') => void): void {
    // A socket and the memory budget call from contexts of their own, or of another request. Half a microsecond each.
    this.#onChunk = isTracing() ? inThisRequest(onChunk) : onChunk
    this.#onEnd = inThisRequest((how: 'end' | 'cut') => {
      this.stop()
      onEnd(how)
    })
    this.#listen()
    this.resume()
  }

  pause(): void {
    this.#flows = false
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#body.pause()
  }

  resume(): void {
    this.#flows = true
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#body.destroy(), IDLE_MS)
    this.#deliver()
    // Any of the chunks may have paused it again.
    if (this.#flows) this.#body.resume()
  }

  /** What still comes is not held up here: whoever answers lets it flow away, so that the client reads the answer. */
  stop(): void {
    this.pause()
    this.#body.off('data', this.#take)
    this.#untaken.length = 0
    this.#onChunk = (chunk) => chunk.length
    this.#onEnd = () => {}
  }

  #listen(): void {
    if (this.#body.listeners('data').includes(this.#take)) return
    this.#body.on('data', this.#take).on('end', this.#finish).on('close', this.#cut).on('error', this.#cut)
  }

  readonly #take = (chunk: Buffer): void => {
    this.#idle?.refresh()
    this.#untaken.push(chunk)
    if (this.#flows) this.#deliver()
    else {
      this.#earlyBytes += chunk.length
      if (this.#earlyBytes >= EARLY_BYTES) this.#body.pause()
    }
  }

  readonly #finish = (): void => this.#endWith('end')
  readonly #cut = (): void => this.#endWith('cut')

  #endWith(how: 'end' | 'cut'): void {
    this.#ended ??= how
    this.#deliver()
  }

  #deliver(): void {
    // What takes a chunk may pause and resume while it does.
    if (this.#isDelivering) return
    this.#isDelivering = true
    while (this.#flows && this.#untaken.length > 0) {
      const chunk = this.#untaken.shift()!
      const taken = this.#onChunk(chunk)
      if (taken < chunk.length) this.#untaken.unshift(chunk.subarray(taken))
      else discard(chunk)
    }
    this.#isDelivering = false
    // Who is cut off is not kept waiting for memory: another request may want to go on.
    if (this.#ended === 'cut' || (this.#ended && this.#untaken.length === 0)) this.#onEnd(this.#ended)
  }
}

/**
 * Gives the memory of a chunk back now, not at the next collection: left to V8, chunks of 64 KiB make it collect its whole
 * heap some twenty times in a GiB, which costs more than all else that happens to the bytes.
 */
function discard(chunk: Buffer): void {
  const { buffer } = chunk
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength
  if (whole && chunk.byteLength >= DISCARDED_BYTES) buffer.transfer(0)
}

/** Shows every byte that is taken to somebody else, too. */
export function observed(source: ByteSource, see: (bytes: Buffer) => void): ByteSource {
  return {
    pause: () => source.pause(),
    resume: () => source.resume(),
    stop: () => source.stop(),
    start(onChunk, onEnd) {
      source.start((chunk) => {
        const taken = onChunk(chunk)
        see(chunk.subarray(0, taken))
        return taken
      }, onEnd)
    },
  }
}
