import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { BucketDeps } from './call-bucket.ts'
import { openBucket } from './open-bucket.ts'
import type { ProbePlace } from './probe-place.ts'
import type { Capabilities } from './providers.ts'

/** The folder of the objects that checks write, under the Data Store's prefix. */
export const PROBE_FOLDER = '.sluice-checks'

const CONTENT_TYPE = 'text/plain'
const bytes = Buffer.from('Sluice wrote this to see whether it may. It can be deleted.\n')
const BODY = { chunks: [bytes], bytes: bytes.length, crc32: crc32(bytes) }

/**
 * The operations of a check, with the client that uploads use. Each object has a key of its own: some providers never let
 * credentials that may only put write a key again, and others not within the same second.
 */
export class ProbeOperations {
  readonly #place: ProbePlace
  readonly #deps: BucketDeps
  readonly #options: { signal: AbortSignal }
  readonly #folder: string
  readonly #written: string[] = []
  #bucket: ReturnType<typeof openBucket>

  constructor(place: ProbePlace, deps: BucketDeps, signal: AbortSignal) {
    this.#place = place
    this.#deps = deps
    this.#options = { signal }
    this.#folder = `${place.prefix}${PROBE_FOLDER}/${randomUUID()}`
    this.#bucket = openBucket(place, place, deps)
  }

  get capabilities(): Capabilities {
    return this.#bucket.capabilities
  }

  /** Assumes these capabilities from now on. */
  assume(capabilities: Capabilities): void {
    this.#bucket = openBucket({ ...this.#place, capabilities }, this.#place, this.#deps)
  }

  async put(): Promise<string> {
    const key = this.#newKey()
    await this.#bucket.putObject({ key, contentType: CONTENT_TYPE }, BODY, this.#options)
    return this.#wrote(key)
  }

  async create(): Promise<{ key: string; multipartId: string }> {
    const key = this.#newKey()
    const target = { key, contentType: CONTENT_TYPE }
    return { key, multipartId: await this.#bucket.createMultipart(target, this.#options) }
  }

  async part(upload: { key: string; multipartId: string }): Promise<string> {
    return (await this.#bucket.uploadPart({ ...upload, number: 1 }, BODY, this.#options)).etag
  }

  async complete(upload: { key: string; multipartId: string }, etag: string): Promise<void> {
    const parts = [{ number: 1, etag, crc32: BODY.crc32 }]
    await this.#bucket.completeMultipart(upload, { ...BODY, parts }, this.#options)
    this.#wrote(upload.key)
  }

  /** Copies as a concatenation does, and completes it, since the credentials may not be allowed to abort. */
  async copy(source: string): Promise<void> {
    const bucket = this.#bucket.forCopies()
    const key = this.#newKey()
    const multipartId = await bucket.createMultipart({ key, contentType: CONTENT_TYPE }, this.#options)
    const part = { key, multipartId, number: 1 }
    try {
      const copied = await bucket.copyPart(part, { key: source, range: null }, this.#options)
      await bucket.completeMultipart(part, { ...BODY, parts: [{ number: 1, ...copied }] }, this.#options)
      this.#wrote(key)
    } catch (error) {
      await bucket.abortMultipart(part, this.#options).catch(() => {})
      throw error
    }
  }

  async abort(upload: { key: string; multipartId: string }): Promise<void> {
    await this.#bucket.abortMultipart(upload, this.#options)
  }

  async get(key: string): Promise<void> {
    await this.#bucket.readRange(key, 0, BODY.bytes, this.#options)
  }

  /** Deletes everything that was written. */
  async delete(): Promise<void> {
    for (const key of this.#written) await this.#bucket.deleteObject(key, this.#options)
  }

  #newKey(): string {
    return `${this.#folder}/${this.#written.length + 1}-${randomUUID().slice(0, 8)}`
  }

  #wrote(key: string): string {
    this.#written.push(key)
    return key
  }
}
