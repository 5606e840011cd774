import { toBase64 } from './base64.ts'

const MIB = 1024 * 1024
/** The read size: a few milliseconds of work, after which the page can respond to its user. */
const PIECE_BYTES = 4 * MIB
/** How far a file is read ahead, so that the checksums of most files are known before the files are sent. */
const AHEAD_BYTES = 64 * MIB
/** The last request starts at a multiple of this, so its parts have the usual size. */
const LAST_BYTES = 8 * MIB

/**
 * An entire file's CRC32, which the server compares with the bytes received. It is computed while the file is sent,
 * and declared with the request that completes it. The file is read from the start for this, even after a reload, so
 * that a file that has changed since its first bytes were sent is detected.
 */
export class FileChecksum {
  readonly #file: Blob
  #bytes = 0
  #crc32 = 0
  #reading: Promise<unknown> = Promise.resolve()

  constructor(file: Blob) {
    this.#file = file
  }

  /** Continues reading to the upload's current position. Read errors are reported by `field`, not here. */
  follow(sentBytes: number, signal: AbortSignal): void {
    this.#readTo(Math.max(sentBytes, AHEAD_BYTES), signal).catch(() => undefined)
  }

  /**
   * Where a request to an upload, or a lane, of this size must end: before the last bytes, unless it starts there or the
   * checksum is known.
   */
  endOfRequest(startBytes: number, endBytes: number, size = this.#file.size): number {
    const lastBytes = Math.max(0, Math.floor((size - 1) / LAST_BYTES) * LAST_BYTES)
    const isKnown = this.#bytes === this.#file.size
    return isKnown || startBytes >= lastBytes ? endBytes : Math.min(endBytes, lastBytes)
  }

  /** The value of the `Repr-Digest` header. Rejects if the file cannot be read. */
  async field(signal: AbortSignal): Promise<string> {
    await this.#readTo(this.#file.size, signal)
    const bytes = [24, 16, 8, 0].map((shift) => (this.#crc32 >>> shift) & 255)
    return `crc32=:${toBase64(bytes)}:`
  }

  /** Reads run one after another, each continuing where the last one stopped. */
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

/**
 * Uses tables for sixteen bytes at a time: the fastest way in JavaScript without WebAssembly, which a page's CSP may
 * forbid.
 */
const AT_ONCE = 16
const TABLE = new Int32Array(256 * AT_ONCE)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  TABLE[byte] = crc
}
for (let at = 256; at < TABLE.length; at++) {
  const before = TABLE[at - 256]!
  TABLE[at] = (before >>> 8) ^ TABLE[before & 255]!
}

/** Continues a CRC32: `before` is the checksum of the preceding bytes, and `buffer` is appended to them. */
export function crc32(buffer: ArrayBuffer, before = 0): number {
  // Assumes little-endian words, as on every machine with a browser.
  const words = new Int32Array(buffer, 0, buffer.byteLength >>> 2)
  const wholeWords = words.length & ~3
  let crc = ~before
  for (let at = 0; at < wholeWords; at += 4) {
    const a = crc ^ words[at]!
    const b = words[at + 1]!
    const c = words[at + 2]!
    const d = words[at + 3]!
    crc =
      TABLE[3840 + (a & 255)]! ^
      TABLE[3584 + ((a >>> 8) & 255)]! ^
      TABLE[3328 + ((a >>> 16) & 255)]! ^
      TABLE[3072 + (a >>> 24)]! ^
      TABLE[2816 + (b & 255)]! ^
      TABLE[2560 + ((b >>> 8) & 255)]! ^
      TABLE[2304 + ((b >>> 16) & 255)]! ^
      TABLE[2048 + (b >>> 24)]! ^
      TABLE[1792 + (c & 255)]! ^
      TABLE[1536 + ((c >>> 8) & 255)]! ^
      TABLE[1280 + ((c >>> 16) & 255)]! ^
      TABLE[1024 + (c >>> 24)]! ^
      TABLE[768 + (d & 255)]! ^
      TABLE[512 + ((d >>> 8) & 255)]! ^
      TABLE[256 + ((d >>> 16) & 255)]! ^
      TABLE[d >>> 24]!
  }
  for (const byte of new Uint8Array(buffer, wholeWords * 4)) crc = TABLE[(crc ^ byte) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}
