import type { S3Request } from './request.ts'
import { S3Error } from './s3-error.ts'

/** Who a request says it is from: what its `Authorization` header or its presigned query claims, not yet proven. */
export interface CredentialClaim {
  accessKeyId: string
  scope: { date: string; region: string; service: string }
  signedHeaders: string[]
  signature: string
  signedAtMs: number
  /** Of a presigned URL only. */
  lifetimeMs: number | undefined
}

const HEADER =
  /^AWS4-HMAC-SHA256\s+Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/
const MAX_LIFETIME_SECONDS = 604_800

export function readClaim(request: S3Request): CredentialClaim {
  if (request.query.has('X-Amz-Signature')) return readPresigned(request.query)
  if (request.headers.authorization)
    return readHeader(request.headers.authorization, request.headers['x-amz-date'])
  throw new S3Error('AccessDenied')
}

function readHeader(authorization: string, date: string | undefined): CredentialClaim {
  const [, credential, signedHeaders, signature] = HEADER.exec(authorization) ?? []
  if (!credential || !signedHeaders || !signature) throw new S3Error('AuthorizationHeaderMalformed')
  const signedAtMs = readDate(date)
  if (signedAtMs === undefined)
    throw new S3Error('AccessDenied', 'AWS authentication requires a valid x-amz-date header')
  return {
    ...readCredential(credential, 'AuthorizationHeaderMalformed'),
    signedHeaders: signedHeaders.split(';'),
    signature,
    signedAtMs,
    lifetimeMs: undefined,
  }
}

function readPresigned(query: URLSearchParams): CredentialClaim {
  const seconds = Number(query.get('X-Amz-Expires'))
  const signedAtMs = readDate(query.get('X-Amz-Date') ?? undefined)
  const wellFormed =
    query.get('X-Amz-Algorithm') === 'AWS4-HMAC-SHA256' &&
    Number.isInteger(seconds) &&
    seconds >= 1 &&
    seconds <= MAX_LIFETIME_SECONDS
  if (!wellFormed || signedAtMs === undefined) throw new S3Error('AuthorizationQueryParametersError')
  return {
    ...readCredential(query.get('X-Amz-Credential') ?? '', 'AuthorizationQueryParametersError'),
    signedHeaders: (query.get('X-Amz-SignedHeaders') ?? '').split(';'),
    signature: query.get('X-Amz-Signature')!,
    signedAtMs,
    lifetimeMs: seconds * 1000,
  }
}

/** `<key id>/<date>/<region>/s3/aws4_request`; the key id itself may hold slashes. */
function readCredential(
  credential: string,
  refusal: 'AuthorizationHeaderMalformed' | 'AuthorizationQueryParametersError',
) {
  const [, accessKeyId, date, region, service] =
    /^(.+)\/(\d{8})\/([^/]*)\/([^/]*)\/aws4_request$/.exec(credential) ?? []
  if (!accessKeyId || !date || region === undefined || service !== 's3') throw new S3Error(refusal)
  return { accessKeyId, scope: { date, region, service } }
}

function readDate(text: string | undefined): number | undefined {
  const fields = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text ?? '')
  if (!fields) return undefined
  const [, year, month, day, hour, minute, second] = fields.map(Number)
  return Date.UTC(year!, month! - 1, day, hour, minute, second)
}
