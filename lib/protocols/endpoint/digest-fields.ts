import { parseDictionary } from 'structured-headers'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { type BodyCheck, checkBody, type Digest } from './body-check.ts'
import type { UploadRequest } from './upload-request.ts'

/** The algorithms of RFC 9530 that are not deprecated. */
const ALGORITHMS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const

/** For a body that is a whole file: checks Content-Digest and Repr-Digest (RFC 9530) and Content-MD5. */
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

/** Ignores unknown algorithms and, as RFC 9651, 4.2 demands, a field that cannot be parsed. */
function digestsOf(header: string | string[] | undefined): Digest[] {
  if (header === undefined) return []
  try {
    const digests = parseDictionary(String(header))
    return Object.entries(ALGORITHMS).flatMap(([name, algorithm]) => {
      const value = digests.get(name)?.[0]
      return value instanceof ArrayBuffer
        ? [{ algorithm, base64: Buffer.from(value).toString('base64') }]
        : []
    })
  } catch {
    return []
  }
}

function contentMd5(header: string | string[] | undefined): Digest[] {
  if (header === undefined) return []
  if (!/^[A-Za-z0-9+/]{22}==$/.test(String(header)))
    throw new SluiceError('invalid_header', 'Content-MD5 must be the 16 bytes of an MD5 in Base64.')
  return [{ algorithm: 'md5', base64: String(header) }]
}
