import { createHash } from 'node:crypto'
import { type Authentication, sameSignature } from './authenticate.ts'
import { S3Error } from './s3-error.ts'

const EMPTY_SHA256 = createHash('sha256').digest('hex')

export interface ChunkedOptions {
  /** Set if the chunks are signed; each signature covers the previous one. */
  signatures: Pick<Authentication, 'seedSignature' | 'signingScope' | 'signChunk'> | undefined
  decodedLength: number
  /** Filled after the last chunk. */
  trailers: Record<string, string>
}

/**
 * The `aws-chunked` encoding: chunks of `<hex length>[;chunk-signature=<hex>]\r\n<bytes>\r\n`, a chunk of length
 * zero, then trailing headers and an empty line. Bytes are passed on as they arrive; a wrong signature is detected at
 * the end of its chunk, so the consumer must not publish the bytes before the end.
 */
export async function* decodeAwsChunked(
  source: AsyncIterable<Buffer>,
  options: ChunkedOptions,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source)
  const { signatures } = options
  let previous = signatures?.seedSignature ?? ''
  let decoded = 0
  for (;;) {
    const { length, signature } = readChunkHeader(await reader.line())
    const hash = signatures && createHash('sha256')
    decoded += length
    if (decoded > options.decodedLength) throw new S3Error('IncompleteBody')
    for await (const bytes of reader.bytes(length)) {
      hash?.update(bytes)
      yield bytes
    }
    if (signatures) {
      previous = await requireChunkSignature(signatures, previous, hash!.digest('hex'), signature)
    }
    if (length === 0) break
    if ((await reader.line()) !== '') throw new S3Error('IncompleteBody')
  }
  if (decoded !== options.decodedLength) throw new S3Error('IncompleteBody')
  Object.assign(options.trailers, await readTrailers(reader))
  if (signatures && Object.keys(options.trailers).length > 0) {
    await requireTrailerSignature(signatures, previous, options.trailers)
  }
}

function readChunkHeader(line: string): { length: number; signature: string | undefined } {
  const [, length, signature] = /^([0-9a-fA-F]{1,13})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line) ?? []
  if (length === undefined) throw new S3Error('IncompleteBody', 'The aws-chunked body is malformed.')
  return { length: Number.parseInt(length, 16), signature }
}

async function readTrailers(reader: ByteReader): Promise<Record<string, string>> {
  const trailers: Record<string, string> = {}
  for (let line = await reader.lineOrEnd(); line; line = await reader.lineOrEnd()) {
    const [, name, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? []
    if (!name || Object.keys(trailers).length > 8)
      throw new S3Error('IncompleteBody', 'The trailer is malformed.')
    trailers[name.toLowerCase()] = value!
  }
  return trailers
}

async function requireChunkSignature(
  { signingScope, signChunk }: NonNullable<ChunkedOptions['signatures']>,
  previous: string,
  digest: string,
  signature: string | undefined,
): Promise<string> {
  const lines = ['AWS4-HMAC-SHA256-PAYLOAD', signingScope, previous, EMPTY_SHA256, digest]
  const expected = await signChunk(lines.join('\n'))
  if (!sameSignature(expected, signature)) throw new S3Error('SignatureDoesNotMatch')
  return expected
}

async function requireTrailerSignature(
  { signingScope, signChunk }: NonNullable<ChunkedOptions['signatures']>,
  previous: string,
  { 'x-amz-trailer-signature': signature, ...trailers }: Record<string, string>,
): Promise<void> {
  const signed = Object.entries(trailers).map(([name, value]) => `${name}:${value}\n`)
  const digest = createHash('sha256').update(signed.join('')).digest('hex')
  const expected = await signChunk(['AWS4-HMAC-SHA256-TRAILER', signingScope, previous, digest].join('\n'))
  if (!sameSignature(expected, signature)) throw new S3Error('SignatureDoesNotMatch')
}

const MAX_LINE_BYTES = 4096
const LINE_END = Buffer.from('\r\n')

/** Reads lines and counted bytes alternately from a stream of buffers, of which it keeps at most one in memory. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  async line(): Promise<string> {
    const line = await this.lineOrEnd()
    if (line === undefined) throw new S3Error('IncompleteBody')
    return line
  }

  /** Undefined if the stream has ended. */
  async lineOrEnd(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf(LINE_END)
      if (end >= 0) {
        const line = this.#rest.toString('latin1', 0, end)
        this.#rest = this.#rest.subarray(end + LINE_END.length)
        return line
      }
      if (this.#rest.length > MAX_LINE_BYTES)
        throw new S3Error('IncompleteBody', 'A line of the body is too long.')
      const { value, done } = await this.#source.next()
      if (done && this.#rest.length > 0) throw new S3Error('IncompleteBody')
      if (done) return undefined
      this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, value]) : value
    }
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#source.next()
        if (done) throw new S3Error('IncompleteBody')
        this.#rest = value
      }
      const taken = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(taken.length)
      left -= taken.length
      if (taken.length > 0) yield taken
    }
  }
}
