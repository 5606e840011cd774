import { crc32 } from './crc32.ts'

const MIB = 1024 * 1024
/** Read at a time: a few milliseconds of work, after which the page may respond. */
const PIECE_BYTES = 4 * MIB
/** A file is read as far as this before the first of it is confirmed, so the checksum of most files is there when they are sent. */
const AHEAD_BYTES = 64 * MIB
/** The last request begins at a multiple of this, so its parts are as large as usual. */
const LAST_BYTES = 8 * MIB

/**
 * The CRC32 of a whole file, which the server compares with the bytes that have arrived. It is computed while the file is sent, and
 * declared with the request that completes it. The file is read for it from its beginning, also after a reload: what was sent before
 * from a file that has changed since is found out.
 */
export class FileChecksum {
  readonly #file: Blob
  #bytes = 0
  #crc32 = 0
  #reading: Promise<unknown> = Promise.resolve()

  constructor(file: Blob) {
    this.#file = file
  }

  /** Goes on as far as the upload has come, and does not fail: `field` will. */
  follow(sentBytes: number, signal: AbortSignal): void {
    this.#readTo(Math.max(sentBytes, AHEAD_BYTES), signal).catch(() => undefined)
  }

  /** Where a request that starts here has to end: before the last bytes, unless the checksum is known. */
  endOfRequest(startBytes: number, endBytes: number): number {
    const { size } = this.#file
    const lastBytes = Math.max(0, Math.floor((size - 1) / LAST_BYTES) * LAST_BYTES)
    const isKnown = this.#bytes === size
    return isKnown || startBytes >= lastBytes ? endBytes : Math.min(endBytes, lastBytes)
  }

  /** For the header `Repr-Digest`. Rejects if the file cannot be read. */
  async field(signal: AbortSignal): Promise<string> {
    await this.#readTo(this.#file.size, signal)
    const bytes = [24, 16, 8, 0].map((shift) => (this.#crc32 >>> shift) & 255)
    return `crc32=:${btoa(String.fromCharCode(...bytes))}:`
  }

  /** One after another, each from where the last has stopped. */
  #readTo(endBytes: number, signal: AbortSignal): Promise<void> {
    const read = async () => {
      const toBytes = Math.min(endBytes, this.#file.size)
      while (this.#bytes < toBytes && !signal.aborted) {
        const piece = this.#file.slice(this.#bytes, this.#bytes + PIECE_BYTES)
        this.#crc32 = crc32(await piece.arrayBuffer(), this.#crc32)
        this.#bytes += piece.size
      }
    }
    const reading = this.#reading.then(read)
    this.#reading = reading.catch(() => undefined)
    return reading
  }
}
