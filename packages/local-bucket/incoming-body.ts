import type { Authentication } from './authenticate.ts'
import { decodeAwsChunked } from './aws-chunked.ts'
import { declaredCrc32, declaredMd5, type Measured, Meter } from './checksums.ts'
import { S3Error } from './s3-error.ts'

const MAX_BODY_BYTES = 5 * 2 ** 30
const STREAMED = /^STREAMING-(UNSIGNED-PAYLOAD|AWS4-HMAC-SHA256-PAYLOAD)(-TRAILER)?$/

export interface BodyOptions {
  headers: Record<string, string>
  authentication: Authentication
  source: AsyncIterable<Buffer>
  /** False if the checksum in the headers belongs to the assembled object, not to this body. */
  checksummed: boolean
  /** Whether to compute the MD5 even if there is no Content-MD5; false for bytes that are not kept. */
  md5: boolean
}

/** One request's body, decoded, measured, and verified against its headers and trailers. */
export class IncomingBody {
  readonly #options: BodyOptions
  readonly #meter: Meter
  #declaredCrc32: number | undefined
  #measured: Measured | undefined

  constructor(options: BodyOptions) {
    this.#options = options
    this.#declaredCrc32 = options.checksummed ? declaredCrc32(options.headers) : undefined
    this.#meter = new Meter({
      md5: options.md5 || declaredMd5(options.headers) !== undefined,
      sha256: isSha256(options.authentication.payload),
    })
  }

  /** Yields the bytes, and throws after the last one if they do not match what the client declared. */
  async *bytes(): AsyncGenerator<Buffer> {
    const trailers: Record<string, string> = {}
    const decodedLength = requireLength(this.#options.headers)
    for await (const chunk of this.#decoded(decodedLength, trailers)) {
      this.#meter.update(chunk)
      yield chunk
    }
    const { sha256, ...measured } = this.#meter.result()
    const { headers, authentication } = this.#options
    this.#declaredCrc32 ??= declaredCrc32(trailers)
    if (sha256 !== undefined && sha256 !== authentication.payload)
      throw new S3Error('XAmzContentSHA256Mismatch')
    if (announced(headers['x-amz-trailer']) && this.#declaredCrc32 === undefined) {
      throw new S3Error('InvalidRequest', 'The trailing checksum that was announced is missing.')
    }
    if (this.#declaredCrc32 !== undefined && this.#declaredCrc32 !== measured.crc32) {
      throw new S3Error('BadDigest', 'The CRC32 you specified did not match the calculated checksum.')
    }
    const md5 = declaredMd5(headers)
    if (md5 !== undefined && md5 !== measured.md5) {
      throw new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.')
    }
    this.#measured = measured
  }

  /** Available after the last byte. */
  get measured(): Measured {
    if (!this.#measured) throw new Error('the body has not been read to its end')
    return this.#measured
  }

  /** What the client declared, in the headers or in the trailer; known after the last byte. */
  get declaredCrc32(): number | undefined {
    return this.#declaredCrc32
  }

  /** An XML body. Its `x-amz-checksum-crc32` header describes the object that it completes, not the XML. */
  async text(maxBytes: number): Promise<string> {
    this.#declaredCrc32 = undefined
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of this.bytes()) {
      size += chunk.length
      if (size > maxBytes) throw new S3Error('MaxMessageLengthExceeded')
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  #decoded(decodedLength: number, trailers: Record<string, string>): AsyncIterable<Buffer> {
    const { authentication, source } = this.#options
    const streamed = STREAMED.exec(authentication.payload)
    if (streamed) {
      const signatures = streamed[1] === 'UNSIGNED-PAYLOAD' ? undefined : authentication
      return decodeAwsChunked(source, { signatures, decodedLength, trailers })
    }
    if (authentication.payload !== 'UNSIGNED-PAYLOAD' && !isSha256(authentication.payload)) {
      throw new S3Error(
        'InvalidArgument',
        'x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a STREAMING- form or a SHA-256',
      )
    }
    return source
  }
}

/** The size of the object or part. S3 requires it before the first byte. */
function requireLength(headers: Record<string, string>): number {
  const declared = headers['x-amz-decoded-content-length'] ?? headers['content-length']
  if (declared === undefined) throw new S3Error('MissingContentLength')
  const length = /^\d{1,15}$/.test(declared) ? Number(declared) : Number.NaN
  if (Number.isNaN(length)) throw new S3Error('InvalidArgument', 'The length of the body is not a number.')
  if (length > MAX_BODY_BYTES) {
    throw new S3Error('EntityTooLarge', undefined, {
      ProposedSize: String(length),
      MaxSizeAllowed: String(MAX_BODY_BYTES),
    })
  }
  return length
}

const isSha256 = (payload: string): boolean => /^[0-9a-f]{64}$/.test(payload)
const announced = (trailer: string | undefined): boolean => /x-amz-checksum-/i.test(trailer ?? '')
