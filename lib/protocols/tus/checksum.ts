import { createHash } from 'node:crypto'
import { crc32ToBase64 } from '../../platform/kernel/crc32.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { fastCrc32 } from '../../platform/kernel/fast-crc32.ts'
import type { TusRequest } from './tus-request.ts'

/** TUS 1.0.0, Checksum: the digest of one body, announced in a header or sent after the body as a trailer. */
export const ALGORITHMS = ['md5', 'sha1', 'sha256', 'crc32'] as const
type Algorithm = (typeof ALGORITHMS)[number]
type Digest = { update(chunk: Buffer): void; base64(): string }

export type BodyCheck = {
  update(chunk: Buffer): void
  /** Once the whole body is there. */
  verify(): void
}

export function bodyCheck(request: TusRequest): BodyCheck | undefined {
  const header = request.headers['upload-checksum']
  if (typeof header === 'string') {
    const wanted = parse(header)
    return check([wanted.algorithm], () => wanted)
  }
  if (!announcesTrailer(request)) return undefined
  // Which algorithm it will be is not known before the body has ended.
  return check(ALGORITHMS, () => {
    const trailer = request.body.trailers['upload-checksum']
    if (trailer === undefined) throw malformed('The trailer Upload-Checksum was announced, but did not come.')
    return parse(trailer)
  })
}

function check(
  algorithms: readonly Algorithm[],
  wanted: () => { algorithm: Algorithm; base64: string },
): BodyCheck {
  const digests = new Map(algorithms.map((algorithm) => [algorithm, openDigest(algorithm)]))
  return {
    update(chunk) {
      for (const digest of digests.values()) digest.update(chunk)
    },
    verify() {
      const { algorithm, base64 } = wanted()
      if (digests.get(algorithm)!.base64() !== base64)
        throw new SluiceError(
          'checksum_mismatch',
          `The ${algorithm} of the body is not the one that was sent with it.`,
        )
    },
  }
}

function announcesTrailer({ headers }: TusRequest): boolean {
  const names = headers.trailer?.toLowerCase().split(',') ?? []
  return names.some((name) => name.trim() === 'upload-checksum')
}

function parse(text: string): { algorithm: Algorithm; base64: string } {
  const [algorithm, base64, ...more] = text.trim().split(' ')
  if (!(ALGORITHMS as readonly string[]).includes(algorithm ?? ''))
    throw malformed(`Upload-Checksum knows ${ALGORITHMS.join(', ')}.`)
  if (!base64 || more.length > 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw malformed('Upload-Checksum must be an algorithm, a space, and the checksum in Base64.')
  return { algorithm: algorithm as Algorithm, base64 }
}

function openDigest(algorithm: Algorithm): Digest {
  if (algorithm !== 'crc32') {
    const hash = createHash(algorithm)
    return { update: (chunk) => void hash.update(chunk), base64: () => hash.digest('base64') }
  }
  let crc = 0
  return {
    update(chunk) {
      crc = fastCrc32(chunk, crc)
    },
    base64: () => crc32ToBase64(crc),
  }
}

function malformed(detail: string): SluiceError {
  return new SluiceError('invalid_header', detail)
}
