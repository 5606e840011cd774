import type { IncomingMessage } from 'node:http'

const GATHER_MS = 500
/** A client is slow while it sends less than this in `GATHER_MS`. */
const SLOW_BYTES = 16 * 1024
/** The end of a body is read as it arrives, because the client waits for the response. */
const LAST_BYTES = 64 * 1024

/**
 * Reads a slow client's bytes twice a second instead of as they arrive: a thousand phones send many small packets, and
 * reading ten of them at once costs as much as reading one. Meanwhile, the bytes stay in the kernel. If the upload is
 * stopped or the connection breaks then, the client sends them again.
 */
export class SlowReads {
  readonly #socket: IncomingMessage['socket']
  readonly #timer = setTimeout(() => this.#look(), GATHER_MS).unref()
  #leftBytes: number
  #latelyBytes = 0
  #isSlow = false
  #hasPaused = false

  /** Undefined if the body is short or its length is unknown, so that its end cannot be told, or if it has no socket. */
  static of(body: IncomingMessage): SlowReads | undefined {
    if (!body.socket?.pause) return undefined
    const bytes = Number(body.headers['content-length'] ?? 0)
    return bytes > LAST_BYTES ? new SlowReads(body, bytes) : undefined
  }

  private constructor({ socket }: IncomingMessage, bytes: number) {
    this.#socket = socket
    this.#leftBytes = bytes
  }

  /** Called for each chunk. */
  read(bytes: number): void {
    this.#leftBytes -= bytes
    this.#latelyBytes += bytes
    // Node resumes the socket once the chunk has been consumed, so pause it after that.
    if (this.#isSlow && this.#leftBytes > LAST_BYTES) queueMicrotask(() => this.#pause())
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#isSlow = false
    this.#resume()
  }

  #look(): void {
    this.#isSlow = this.#latelyBytes < SLOW_BYTES
    this.#latelyBytes = 0
    this.#resume()
    this.#timer.refresh()
  }

  #pause(): void {
    if (!this.#isSlow) return
    this.#hasPaused = true
    this.#socket.pause()
  }

  /** Node itself pauses the socket while nobody consumes the body, so resume it only after pausing it. */
  #resume(): void {
    if (this.#hasPaused) this.#socket.resume()
    this.#hasPaused = false
  }
}
