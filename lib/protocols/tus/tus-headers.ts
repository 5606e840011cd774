import { Metadata } from '@tus/server'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { BodyRules } from '../../uploads/append.ts'
import { type BodyCheck, checkBody, type Digest } from '../endpoint/body-check.ts'
import { parseUploadPath, type UploadRequest } from '../endpoint/upload-request.ts'

/** TUS 1.0.0, Upload-Defer-Length: "Its value MUST be 1." */
export function deferHeader({ headers }: UploadRequest): boolean {
  const text = headers['upload-defer-length']
  if (text === undefined) return false
  if (text !== '1') throw new SluiceError('invalid_header', 'Upload-Defer-Length must be 1.')
  return true
}

/** A TUS upload is complete once its length is reached. A body with a checksum takes effect entirely or not at all. */
export function tusRules({ check }: { check: BodyCheck | undefined }): BodyRules {
  return { completedBy: 'length', whenCut: check ? 'discard' : 'keep' }
}

const OFFSET_STREAM = 'application/offset+octet-stream'

export function assertOffsetStream({ headers }: UploadRequest): void {
  if (headers['content-type']?.trim().toLowerCase() !== OFFSET_STREAM)
    throw new SluiceError('unsupported_media_type', `Content-Type must be ${OFFSET_STREAM}.`)
}

export function expiresHeader(atMs: number): Record<string, string> {
  return { 'Upload-Expires': new Date(atMs).toUTCString() }
}

/** The parsed Upload-Metadata of a creation. */
type UploadMetadata = {
  header: string | null
  filename: string
  filetype: string | null
  /** All other keys. */
  custom: Record<string, string>
}

const MAX_BYTES = 8192

export function parseUploadMetadata(header: string | string[] | undefined): UploadMetadata {
  const text = Array.isArray(header) ? header.join(',') : header
  if (text === undefined || text.trim() === '')
    return { header: null, filename: 'file', filetype: null, custom: {} }
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new SluiceError('invalid_header', `Upload-Metadata may have at most ${MAX_BYTES} bytes.`)
  const { filename, filetype, ...custom } = pairsOf(text)
  return { header: text, filename: filename || 'file', filetype: filetype || null, custom }
}

/**
 * Replaces `Metadata.parse`, which treats a key named like a built-in object property, such as `constructor`, as a
 * duplicate.
 */
function pairsOf(text: string): Record<string, string> {
  const pairs = new Map<string, string>()
  for (const pair of text.trim().split(/\s*,\s*/)) {
    const [key = '', value = '', ...more] = pair.split(' ')
    const wellFormed = more.length === 0 && Metadata.validateKey(key) && Metadata.validateValue(value)
    if (!wellFormed || pairs.has(key))
      throw new SluiceError(
        'invalid_header',
        'Upload-Metadata must be comma-separated pairs: a unique key, a space, and the value in Base64.',
      )
    // PostgreSQL cannot store NUL in text.
    pairs.set(key, Buffer.from(value, 'base64').toString('utf8').replaceAll('\0', ''))
  }
  return Object.fromEntries(pairs)
}

/** TUS 1.0.0, Concatenation: "partial", or "final;" and the addresses of partial uploads, separated by spaces. */
type UploadConcat = { kind: 'partial' } | FinalConcat
export type FinalConcat = { kind: 'final'; partialIds: string[]; header: string }

const MAX_PARTIALS = 1000

export function parseUploadConcat(
  header: string | string[] | undefined,
  pipeId: string,
): UploadConcat | undefined {
  if (header === undefined) return undefined
  if (header === 'partial') return { kind: 'partial' }
  const text = String(header)
  const list = text.match(/^final;\s*(\S.*)$/)?.[1]
  if (!list)
    throw malformedConcat('must be `partial`, or `final;` followed by the addresses of partial uploads')
  const addresses = list.trim().split(/ +/)
  if (addresses.length > MAX_PARTIALS)
    throw malformedConcat(`may name at most ${MAX_PARTIALS} partial uploads`)
  const partialIds = addresses.map((address) => {
    const path = parseUploadPath(URL.parse(address, 'http://relative')?.pathname ?? '')
    if (path?.pipeId !== pipeId || !path.fileId)
      throw malformedConcat(`names ${address}, which is not an upload on this Pipe`)
    return path.fileId
  })
  if (new Set(partialIds).size !== partialIds.length) throw malformedConcat('names an upload twice')
  return { kind: 'final', partialIds, header: text }
}

function malformedConcat(words: string): SluiceError {
  return new SluiceError('invalid_header', `Upload-Concat ${words}.`)
}

/** TUS 1.0.0, Checksum: the digest of one body, announced in a header or sent after the body as a trailer. */
export const ALGORITHMS = ['md5', 'sha1', 'sha256', 'crc32'] as const
type Algorithm = (typeof ALGORITHMS)[number]

export function bodyCheck(request: UploadRequest): BodyCheck | undefined {
  const header = request.headers['upload-checksum']
  if (typeof header === 'string') {
    const wanted = parse(header)
    return checkBody([wanted.algorithm], () => [wanted])
  }
  if (!announcesTrailer(request)) return undefined
  // The algorithm is unknown until the body has ended.
  return checkBody(ALGORITHMS, () => {
    const trailer = request.body.trailers['upload-checksum']
    if (trailer === undefined)
      throw malformedChecksum('The trailer Upload-Checksum was announced but not sent.')
    return [parse(trailer)]
  })
}

function announcesTrailer({ headers }: UploadRequest): boolean {
  const names = headers.trailer?.toLowerCase().split(',') ?? []
  return names.some((name) => name.trim() === 'upload-checksum')
}

function parse(text: string): Digest {
  const [algorithm, base64, ...more] = text.trim().split(' ')
  if (!(ALGORITHMS as readonly string[]).includes(algorithm ?? ''))
    throw malformedChecksum(`The algorithms of Upload-Checksum are ${ALGORITHMS.join(', ')}.`)
  if (!base64 || more.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw malformedChecksum('Upload-Checksum must be an algorithm, a space, and the checksum in Base64.')
  return { algorithm: algorithm as Algorithm, base64 }
}

function malformedChecksum(detail: string): SluiceError {
  return new SluiceError('invalid_header', detail)
}
