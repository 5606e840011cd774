import { createReadStream } from 'node:fs'
import { crc32 } from 'node:zlib'

/** The last request begins at a multiple of this, so its parts are as large as usual. */
const LAST_BYTES = 8 * 1024 * 1024

/**
 * The CRC32 of a whole file, which the server compares with the bytes that have arrived. It is computed of the bytes as they are sent;
 * those that an earlier run has sent, and those of the last request, which declares it, are read once more.
 */
export class FileChecksum {
  readonly #path: string
  readonly #size: number
  #bytes = 0
  #crc32 = 0

  constructor({ path, size }: { path: string; size: number }) {
    this.#path = path
    this.#size = size
  }

  /** Where a request that starts here has to end: before the last bytes, unless the checksum is known. */
  endOfRequest(startBytes: number): number {
    const lastBytes = Math.max(0, Math.floor((this.#size - 1) / LAST_BYTES) * LAST_BYTES)
    const isKnown = this.#bytes === this.#size
    return isKnown || startBytes >= lastBytes ? this.#size : lastBytes
  }

  /** Takes the bytes that it lacks, if they are among these. */
  add(positionBytes: number, chunk: Buffer): void {
    const known = this.#bytes - positionBytes
    if (known < 0 || known >= chunk.length) return
    this.#crc32 = crc32(chunk.subarray(known), this.#crc32)
    this.#bytes += chunk.length - known
  }

  /** For the header `Repr-Digest`. */
  async field(): Promise<string> {
    let positionBytes = this.#bytes
    if (positionBytes < this.#size)
      for await (const chunk of createReadStream(this.#path, { start: positionBytes, end: this.#size - 1 })) {
        this.add(positionBytes, chunk)
        positionBytes += chunk.length
      }
    if (this.#bytes < this.#size) throw new Error(`${this.#path} has become shorter.`)
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(this.#crc32)
    return `crc32=:${crc.toString('base64')}:`
  }
}
