import { SluiceError } from '../../platform/kernel/errors.ts'
import { type BodyCheck, checkBody, type Digest } from '../endpoint/body-check.ts'
import type { UploadRequest } from '../endpoint/upload-request.ts'

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
  // The algorithm is not known before the body has ended.
  return checkBody(ALGORITHMS, () => {
    const trailer = request.body.trailers['upload-checksum']
    if (trailer === undefined) throw malformed('The trailer Upload-Checksum was announced but not sent.')
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
    throw malformed(`The algorithms of Upload-Checksum are ${ALGORITHMS.join(', ')}.`)
  if (!base64 || more.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw malformed('Upload-Checksum must be an algorithm, a space, and the checksum in Base64.')
  return { algorithm: algorithm as Algorithm, base64 }
}

function malformed(detail: string): SluiceError {
  return new SluiceError('invalid_header', detail)
}
