import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { crc32FromBase64 } from '../../lib/platform/kernel/crc32.ts'
import { S3Error } from './s3-error.ts'

/** What is known about a range of bytes after reading it. */
export interface Measured {
  size: number
  crc32: number
  /** Hexadecimal; the S3 ETag of a part and of an object that was put in one piece. */
  md5: string
}

/**
 * Computes the size and checksums of bytes as they pass through. Hashing twice is expensive, so SHA-256 only runs if it
 * will be compared.
 */
export class Meter {
  readonly #md5: Hash | undefined
  readonly #sha256: Hash | undefined
  #size = 0
  #crc32 = 0

  constructor(options: { md5: boolean; sha256: boolean }) {
    this.#md5 = options.md5 ? createHash('md5') : undefined
    this.#sha256 = options.sha256 ? createHash('sha256') : undefined
  }

  update(chunk: Buffer): void {
    this.#size += chunk.length
    this.#crc32 = crc32(chunk, this.#crc32)
    this.#md5?.update(chunk)
    this.#sha256?.update(chunk)
  }

  async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      this.update(chunk)
      yield chunk
    }
  }

  /** Called once, after the last byte. If there is no MD5, a digest of size and CRC32 is enough for an ETag. */
  result(): Measured & { sha256: string | undefined } {
    const md5 = this.#md5 ?? createHash('md5').update(`${this.#size} ${this.#crc32}`)
    return {
      size: this.#size,
      crc32: this.#crc32,
      md5: md5.digest('hex'),
      sha256: this.#sha256?.digest('hex'),
    }
  }
}

const OTHER_CHECKSUMS = ['crc32c', 'crc64nvme', 'sha1', 'sha256'].map((name) => `x-amz-checksum-${name}`)

/** The CRC32 declared by headers or trailers. Other algorithms are refused, because they would not be verified. */
export function declaredCrc32(headers: Record<string, string>): number | undefined {
  const other = OTHER_CHECKSUMS.find((name) => headers[name] !== undefined)
  if (other)
    throw new S3Error(
      'NotImplemented',
      `This bucket verifies x-amz-checksum-crc32 and Content-MD5, not ${other}.`,
    )
  const text = headers['x-amz-checksum-crc32']
  return text === undefined ? undefined : parseCrc32(text)
}

export function parseCrc32(text: string): number {
  const crc = crc32FromBase64(text)
  if (crc === undefined)
    throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-crc32 header is invalid.')
  return crc
}

/** The MD5 declared by `Content-MD5`, in hexadecimal. */
export function declaredMd5(headers: Record<string, string>): string | undefined {
  const text = headers['content-md5']
  if (text === undefined) return undefined
  if (!/^[A-Za-z0-9+/]{22}==$/.test(text)) throw new S3Error('InvalidDigest')
  return Buffer.from(text, 'base64').toString('hex')
}
