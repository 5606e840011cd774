import { createHash } from 'node:crypto'
import type { Authentication } from './authenticate.ts'
import { ByteReader } from './byte-reader.ts'
import { S3Error } from './s3-error.ts'
import { sameSignature } from './same-signature.ts'

const EMPTY_SHA256 = createHash('sha256').digest('hex')

export interface ChunkedOptions {
  /** Given where the chunks are signed; each signature covers the one before it. */
  signatures: Pick<Authentication, 'seedSignature' | 'signingScope' | 'signChunk'> | undefined
  decodedLength: number
  /** Filled at the end. */
  trailers: Record<string, string>
}

/**
 * The `aws-chunked` encoding: chunks of `<hex length>[;chunk-signature=<hex>]\r\n<bytes>\r\n`, a chunk of length
 * zero, then trailing headers and an empty line. Bytes go on as they come; a false signature is found at the
 * end of its chunk, so whoever takes the bytes must not publish them before the end.
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
