import { fastCrc32 } from '../platform/kernel/fast-crc32.ts'
import type { ByteSource } from '../uploads/stream/pieces.ts'
import { digestMismatch, sourceChanged, tooSlow } from './import-failure.ts'
import type { Pace } from './pace.ts'
import type { ResumableHash } from './resumable-hash.ts'

type Options = {
  /** The offset at which the response body starts. */
  startBytes: number
  /** The offset up to which the bytes are already durable, and their checksum. */
  confirmed: { offsetBytes: number; crc32: number }
  /** The length of the entire file; null if the source does not report it. */
  lengthBytes: number | null
  digest: { hash: ResumableHash; sha256: string } | undefined
  pace: Pace
  slow: { bytes: number; perMs: number }
}

/**
 * The body of a source's response, starting at the confirmed offset. If the source cannot continue there, the preceding
 * bytes are read again and compared: their checksum shows whether the file is still the same. The last bytes are only
 * passed on once the complete digest matches, so a file with a different digest never becomes complete.
 */
export class ImportSource implements ByteSource {
  /** Why the source ended early, if not because of the connection. */
  fault: Error | undefined
  readonly #inner: ByteSource
  readonly #options: Options
  #positionBytes: number
  #comparedCrc32 = 0
  #isOver = false
  /** The source only sends if neither the reader nor the pace has paused it. */
  #isPaused = false
  #isHeld = false
  #window = { bytes: 0, wasPaused: false }
  #timers: NodeJS.Timeout[] = []

  constructor(inner: ByteSource, options: Options) {
    this.#inner = inner
    this.#options = options
    this.#positionBytes = options.startBytes
  }

  /** True once the bytes that were already durable have been read again, and matched. */
  get isCompared(): boolean {
    const { startBytes, confirmed } = this.#options
    if (this.#positionBytes < confirmed.offsetBytes) return false
    return startBytes > 0 || this.#comparedCrc32 === confirmed.crc32
  }

  start(onChunk: (chunk: Buffer) => number, onEnd: (how: 'end' | 'cut') => void): void {
    const end = (how: 'end' | 'cut') => {
      if (this.#isOver) return
      this.stop()
      onEnd(this.fault ? 'cut' : how)
    }
    const fail = (fault: Error) => {
      this.fault = fault
      end('cut')
    }
    this.#timers.push(setInterval(() => this.#judgeSpeed(fail), this.#options.slow.perMs))
    this.#inner.start(
      (chunk) => this.#pass(chunk, onChunk, fail),
      (how) => {
        const isLacking = how === 'end' && this.#lacks()
        if (isLacking) fail(isLacking)
        else end(how)
      },
    )
  }

  pause(): void {
    this.#isPaused = true
    this.#window.wasPaused = true
    this.#inner.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#isHeld) this.#inner.resume()
  }

  stop(): void {
    this.#isOver = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#inner.stop()
  }

  #pass(chunk: Buffer, onChunk: (chunk: Buffer) => number, fail: (fault: Error) => void): number {
    const { confirmed } = this.#options
    const skipped = Math.max(0, Math.min(chunk.length, confirmed.offsetBytes - this.#positionBytes))
    if (skipped > 0 && !this.#compare(chunk.subarray(0, skipped))) {
      fail(sourceChanged())
      return chunk.length
    }
    const rest = chunk.subarray(skipped)
    if (rest.length === 0) return skipped
    if (this.#positionBytes + rest.length > (this.#options.lengthBytes ?? Infinity)) {
      fail(sourceChanged())
      return chunk.length
    }
    this.#hash(rest)
    if (this.#positionBytes + rest.length === this.#options.lengthBytes && !this.#agrees()) {
      fail(digestMismatch())
      return chunk.length
    }
    const taken = onChunk(rest)
    this.#count(taken)
    return skipped + taken
  }

  /** Returns false if the bytes differ. Only bytes that are read from the start of the file can be compared. */
  #compare(bytes: Buffer): boolean {
    this.#hash(bytes)
    this.#comparedCrc32 = fastCrc32(bytes, this.#comparedCrc32)
    this.#count(bytes.length)
    return this.isCompared || this.#positionBytes < this.#options.confirmed.offsetBytes
  }

  /**
   * Skips bytes that have already been hashed, because a reader that accepts only part of a chunk gets the rest again.
   */
  #hash(bytes: Buffer): void {
    const { digest } = this.#options
    if (digest) digest.hash.update(bytes.subarray(digest.hash.bytes - this.#positionBytes))
  }

  #agrees(): boolean {
    const { digest } = this.#options
    return !digest || digest.hash.digest() === digest.sha256
  }

  /**
   * Called when the source has ended. Returns an error if the source cannot have the declared file. A response may end
   * before the file does (RFC 9110, 15.3.7); the next attempt then requests the rest.
   */
  #lacks(): Error | undefined {
    if (this.#positionBytes < this.#options.confirmed.offsetBytes) return sourceChanged()
    if (this.#positionBytes < (this.#options.lengthBytes ?? 0)) return undefined
    return this.#agrees() ? undefined : digestMismatch()
  }

  #count(bytes: number): void {
    this.#positionBytes += bytes
    this.#window.bytes += bytes
    const waitMs = this.#options.pace.spend(bytes)
    if (waitMs === 0 || this.#isHeld || this.#isOver) return
    this.#isHeld = true
    this.#window.wasPaused = true
    this.#inner.pause()
    this.#timers.push(setTimeout(() => this.#release(), waitMs))
  }

  #release(): void {
    this.#isHeld = false
    this.#timers.splice(1)
    if (!this.#isPaused) this.#inner.resume()
  }

  /** Fails if the source is too slow, because the import occupies one of its workspace's few slots. */
  #judgeSpeed(fail: (fault: Error) => void): void {
    const { bytes, wasPaused } = this.#window
    this.#window = { bytes: 0, wasPaused: this.#isPaused || this.#isHeld }
    if (!wasPaused && bytes < this.#options.slow.bytes) fail(tooSlow(this.#options.slow))
  }
}
