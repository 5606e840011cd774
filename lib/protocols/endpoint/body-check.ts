import { createHash } from 'node:crypto'
import { parseDictionary } from 'structured-headers'
import { crc32ToBase64 } from '../../platform/kernel/crc32.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { fastCrc32 } from '../../platform/kernel/fast-crc32.ts'
import type { Checksums } from '../../uploads/rules/checksums.ts'
import type { UploadRequest } from './upload-request.ts'

/** Compares a body with the digests that the client sent. */
export type BodyCheck = {
  update(chunk: Buffer): void
  /** Call this once the entire body has arrived. */
  verify(): void
}

type Algorithm = 'md5' | 'sha1' | 'sha256' | 'sha512' | 'crc32'
export type Digest = { algorithm: Algorithm; base64: string }
type RunningDigest = { update(chunk: Buffer): void; base64(): string }

/** `wanted` is called after the body has ended, because the algorithm may not be known before the trailers arrive. */
export function checkBody(
  algorithms: Iterable<Algorithm>,
  wanted: () => readonly Digest[],
  status?: number,
): BodyCheck {
  const running = new Map([...algorithms].map((algorithm) => [algorithm, openDigest(algorithm)]))
  return {
    update(chunk) {
      for (const digest of running.values()) digest.update(chunk)
    },
    verify() {
      // A hash can only be read once, but two fields may name the same algorithm.
      const digests = new Map([...running].map(([algorithm, digest]) => [algorithm, digest.base64()]))
      for (const { algorithm, base64 } of wanted())
        if (digests.get(algorithm) !== base64)
          throw new SluiceError(
            'checksum_mismatch',
            `The ${algorithm} of the body does not match the value sent.`,
            { ...(status && { status }) },
          )
    },
  }
}

function openDigest(algorithm: Algorithm): RunningDigest {
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

/** The RFC 9530 algorithms that are not deprecated. */
const ALGORITHMS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/** For a body that is an entire file: checks Content-Digest and Repr-Digest (RFC 9530) and Content-MD5. */
export function wholeFileCheck(request: Pick<UploadRequest, 'headers'>): BodyCheck | undefined {
  const { headers } = request
  const digests = [...digestsOf(headers['content-digest']), ...digestsOf(headers['repr-digest'])]
  return checkOf([...digests, ...contentMd5(headers['content-md5'])])
}

/** For a body that may be a piece of a file: checks Content-Digest. */
export function contentCheck({ headers }: Pick<UploadRequest, 'headers'>): BodyCheck | undefined {
  return checkOf(digestsOf(headers['content-digest']))
}

function checkOf(digests: Digest[]): BodyCheck | undefined {
  if (digests.length === 0) return undefined
  return checkBody(
    digests.map(({ algorithm }) => algorithm),
    () => digests,
    400,
  )
}

/** Ignores unknown algorithms and, as RFC 9651, 4.2 requires, a field that cannot be parsed. */
function digestsOf(header: string | string[] | undefined): Digest[] {
  const digests = dictionaryOf(header)
  return Object.entries(ALGORITHMS).flatMap(([name, algorithm]) => {
    const value = digests.get(name)?.[0]
    return value instanceof ArrayBuffer ? [{ algorithm, base64: Buffer.from(value).toString('base64') }] : []
  })
}

function dictionaryOf(header: string | string[] | undefined): ReturnType<typeof parseDictionary> {
  try {
    return parseDictionary(String(header ?? ''))
  } catch {
    return new Map()
  }
}

/**
 * The checksums of the entire file, from Repr-Digest: `crc32=:<base64 of its four bytes>:`, which no RFC lists but S3 uses,
 * and `sha-256` in the same form.
 */
export function declaredChecksums({ headers }: Pick<UploadRequest, 'headers'>): Checksums {
  const digests = dictionaryOf(headers['repr-digest'])
  const crc32 = digestIn(digests, 'crc32', 4)
  return {
    crc32: crc32?.readUInt32BE() ?? null,
    sha256: digestIn(digests, 'sha-256', 32)?.toString('hex') ?? null,
  }
}

function digestIn(digests: ReturnType<typeof dictionaryOf>, name: string, bytes: number): Buffer | undefined {
  const value = digests.get(name)?.[0]
  if (value === undefined) return undefined
  if (value instanceof ArrayBuffer && value.byteLength === bytes) return Buffer.from(value)
  throw new SluiceError(
    'invalid_header',
    `The ${name} in Repr-Digest must be ${bytes} bytes in Base64, between colons.`,
  )
}

function contentMd5(header: string | string[] | undefined): Digest[] {
  if (header === undefined) return []
  if (!/^[A-Za-z0-9+/]{22}==$/.test(String(header)))
    throw new SluiceError('invalid_header', 'Content-MD5 must be the 16 bytes of an MD5 in Base64.')
  return [{ algorithm: 'md5', base64: String(header) }]
}
