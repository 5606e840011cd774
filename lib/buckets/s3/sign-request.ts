import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { OutgoingRequest } from '../call-bucket.ts'
import { canonicalQuery } from '../encode-address.ts'

/**
 * AWS Signature Version 4 in the Authorization header, as in S3: the path is encoded once, and the body can be
 * unsigned.
 */
type Signer = (request: Unsigned, nowMs: number) => Record<string, string>

type Unsigned = Pick<OutgoingRequest, 'method' | 'path' | 'query' | 'headers'> & {
  /** The SHA-256 of the body in hex, or UNSIGNED-PAYLOAD. */
  payloadHash: string
}

export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'
const ALGORITHM = 'AWS4-HMAC-SHA256'

export type AccessKey = { accessKeyId: string; secretAccessKey: string }

/** `sessionToken`: of temporary credentials. */
export function createSigner(
  region: string,
  { accessKeyId, secretAccessKey, sessionToken }: AccessKey & { sessionToken?: string | undefined },
  service = 's3',
): Signer {
  let keyDay = ''
  let key: KeyObject | undefined
  const keyOf = (day: string) => {
    if (day !== keyDay) {
      const secret = [day, region, service, 'aws4_request'].reduce<Buffer>(
        hmac,
        Buffer.from(`AWS4${secretAccessKey}`),
      )
      key = createSecretKey(secret)
      keyDay = day
    }
    return key!
  }
  return (request, nowMs) => {
    const time = `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`
    const day = time.slice(0, 8)
    const headers: Record<string, string> = {
      ...request.headers,
      'x-amz-date': time,
      'x-amz-content-sha256': request.payloadHash,
      ...(sessionToken && { 'x-amz-security-token': sessionToken }),
    }
    const names = Object.keys(headers).sort()
    const signedHeaders = names.join(';')
    const canonical = [
      request.method,
      request.path,
      canonicalQuery(request.query),
      ...names.map((name) => `${name}:${headers[name]!.trim().replace(/ +/g, ' ')}`),
      '',
      signedHeaders,
      request.payloadHash,
    ].join('\n')
    const scope = `${day}/${region}/${service}/aws4_request`
    const text = [ALGORITHM, time, scope, sha256(canonical)].join('\n')
    const signature = hmac(keyOf(day), text).toString('hex')
    headers.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`
    return headers
  }
}

export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text)
}

function hmac(key: Buffer | KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
