import { createSHA256, type IHasher } from 'hash-wasm'

/**
 * The distance between the points from which hashing can continue. After a crash, all bytes after the last stored point
 * are fetched again.
 */
const STEP_BYTES = 1024 * 1024

type Point = { bytes: number; state: Uint8Array }

/**
 * Computes the SHA-256 of a file as its bytes arrive. Unlike a hash from `node:crypto`, its state can be stored, and
 * restored in another process. Earlier states are kept, because only some of the hashed bytes may turn out to be
 * durable.
 */
export class ResumableHash {
  readonly #hasher: IHasher
  #bytes: number
  /** The points in order; the first one is at or before the confirmed offset. */
  #points: Point[]

  private constructor(hasher: IHasher, point: Point) {
    this.#hasher = hasher.load(point.state)
    this.#bytes = point.bytes
    this.#points = [point]
  }

  static async open(point: Point | undefined): Promise<ResumableHash> {
    const hasher = (await createSHA256()).init()
    return new ResumableHash(hasher, point ?? { bytes: 0, state: hasher.save() })
  }

  /** How many bytes have been hashed. */
  get bytes(): number {
    return this.#bytes
  }

  update(chunk: Uint8Array): void {
    this.#hasher.update(chunk)
    this.#bytes += chunk.length
    if (this.#bytes - this.#points.at(-1)!.bytes >= STEP_BYTES) this.#mark()
  }

  /** The last state whose bytes are all durable. */
  pointAt(confirmedBytes: number): Point {
    if (this.#bytes === confirmedBytes && this.#points.at(-1)!.bytes !== confirmedBytes) this.#mark()
    const after = this.#points.findIndex(({ bytes }) => bytes > confirmedBytes)
    this.#points.splice(0, (after === -1 ? this.#points.length : after) - 1)
    return this.#points[0]!
  }

  /** The hash of all bytes added so far, in hexadecimal. More bytes can be added afterwards. */
  digest(): string {
    const state = this.#hasher.save()
    const digest = this.#hasher.digest('hex')
    this.#hasher.load(state)
    return digest
  }

  #mark(): void {
    this.#points.push({ bytes: this.#bytes, state: this.#hasher.save() })
  }
}
