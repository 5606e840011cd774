import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { FileObject } from '#drizzle/schema/index.ts'
import { type BucketError, isBucketError } from './bucket-error.ts'
import type { BucketPlace, Target } from './bucket-place.ts'
import type { BucketDeps } from './call-bucket.ts'
import { type BucketClient, type Credentials, openBucket } from './open-bucket.ts'
import type { Capabilities } from './providers.ts'

/** The folder for objects written by checks, under the Data Store's prefix. */
export const PROBE_FOLDER = '.sluice-checks'

type Upload = Target & { multipartId: string }

const CONTENT_TYPE = 'text/plain'
const bytes = Buffer.from('Sluice wrote this file to test its permissions. You can delete it.\n')
const BODY = { chunks: [bytes], bytes: bytes.length, crc32: crc32(bytes) }

/**
 * The operations of a bucket check, with the client that uploads use. Each object has its own key: some providers never
 * let put-only credentials write to the same key twice, and others allow at most one write to a key per second.
 */
export class ProbeOperations {
  readonly #options: { signal: AbortSignal }
  readonly #folder: string
  readonly #written: string[] = []
  #bucket: BucketClient

  constructor(place: ProbePlace, deps: BucketDeps, signal: AbortSignal) {
    this.#options = { signal }
    this.#folder = `${place.prefix}${PROBE_FOLDER}/${randomUUID()}`
    this.#bucket = openBucket(place, place.credentials, deps)
  }

  get capabilities(): Capabilities {
    return this.#bucket.capabilities
  }

  /** Uses these capabilities for all further operations. */
  assume(capabilities: Capabilities): void {
    this.#bucket = this.#bucket.assuming(capabilities)
  }

  async put(object: FileObject | null = null): Promise<string> {
    const key = this.#newKey()
    await this.#bucket.putObject({ key, contentType: CONTENT_TYPE, object }, BODY, this.#options)
    return this.#wrote(key)
  }

  async create(object: FileObject | null = null): Promise<Upload> {
    const target = { key: this.#newKey(), contentType: CONTENT_TYPE, object }
    return { ...target, multipartId: await this.#bucket.createMultipart(target, this.#options) }
  }

  async part(upload: Upload): Promise<string> {
    return (await this.#bucket.uploadPart({ ...upload, number: 1 }, BODY, this.#options)).etag
  }

  async complete(upload: Upload, etag: string): Promise<void> {
    const parts = [{ number: 1, etag, crc32: BODY.crc32 }]
    await this.#bucket.completeMultipart(upload, { ...BODY, parts }, this.#options)
    this.#wrote(upload.key)
  }

  /**
   * Copies an object as concatenation does. The multipart upload is completed, because the credentials may not allow
   * aborting it.
   */
  async copy(source: string): Promise<void> {
    const bucket = this.#bucket.forCopies()
    const target = { key: this.#newKey(), contentType: CONTENT_TYPE }
    const multipartId = await bucket.createMultipart(target, this.#options)
    const part = { ...target, multipartId, number: 1 }
    try {
      const copied = await bucket.copyPart(part, { key: source, range: null }, this.#options)
      await bucket.completeMultipart(part, { ...BODY, parts: [{ number: 1, ...copied }] }, this.#options)
      this.#wrote(target.key)
    } catch (error) {
      await bucket.abortMultipart(part, this.#options).catch(() => {})
      throw error
    }
  }

  async abort(upload: Upload): Promise<void> {
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

/** The values to try if a bucket refuses an assumed capability. */
const OTHERWISE = {
  bodyChecksum: ['crc32', 'md5', null],
  fullObjectCrc32: [false],
  ifNoneMatch: [false],
  ifNoneMatchOnComplete: [false],
} as const satisfies { [Name in keyof Capabilities]?: readonly Capabilities[Name][] }

type Findable = keyof typeof OTHERWISE

/** Error codes that mean a missing or unsupported header, or a checksum mismatch. */
const TELLING = new Set([
  ...['InvalidRequest', 'InvalidArgument', 'NotImplemented', 'MissingContentMD5', 'InvalidDigest'],
  ...['XAmzContentChecksumMismatch', 'InvalidPart', 'BadDigest', 'BadRequest', 'HTTP 400', 'HTTP 501'],
])

/** Other providers use their own codes, but name the missing header in the message. */
const isAboutHeaders = ({ code, told }: BucketError) =>
  TELLING.has(code) || /content-md5|checksum/i.test(told?.words ?? '')

/**
 * Tries an operation with the assumed capabilities. If it is refused because of its headers, tries other capabilities,
 * and from then on assumes those that worked. A capability that works is never changed, because uploads in progress
 * rely on it.
 */
export async function findCapabilities<T>(
  bucket: ProbeOperations,
  names: readonly Findable[],
  operation: () => Promise<T>,
): Promise<T> {
  const assumed = bucket.capabilities
  const [first, ...others] = combinations(assumed, assumed.protocol === 's3' ? names : [])
  let refusal: unknown
  for (const capabilities of [first!, ...others]) {
    bucket.assume(capabilities)
    try {
      return await operation()
    } catch (error) {
      refusal ??= error
      if (!isBucketError(error) || !isAboutHeaders(error)) break
    }
  }
  bucket.assume(assumed)
  throw refusal
}

/** The assumed capabilities come first. */
function combinations(assumed: Capabilities, names: readonly Findable[]): Capabilities[] {
  return names.reduce<Capabilities[]>(
    (sets, name) => {
      const values = [...new Set<unknown>([assumed[name], ...OTHERWISE[name]])]
      return values.flatMap((value) => sets.map((set) => ({ ...set, [name]: value })))
    },
    [assumed],
  )
}

/** A bucket as the customer entered it, with the credentials in plain text. */
export type ProbePlace = BucketPlace & { prefix: string; credentials: Credentials }
