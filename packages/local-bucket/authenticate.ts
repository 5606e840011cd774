import { timingSafeEqual } from 'node:crypto'
import { minutes } from '../../lib/platform/kernel/clock.ts'
import type { BucketKey, KeyAndSigner, KeyRing } from './key-ring.ts'
import type { S3Request } from './request.ts'
import { S3Error } from './s3-error.ts'

const MAX_SKEW_MS = minutes(15)

type Signable = Parameters<KeyAndSigner['signer']['presign']>[0]

/** An authenticated request. `signChunk` computes the next signature in an aws-chunked body. */
export interface Authentication {
  key: BucketKey
  /** `x-amz-content-sha256`: a digest, or how the body is sent. */
  payload: string
  seedSignature: string
  /** The `<time>\n<scope>` lines in every string to sign. */
  signingScope: string
  signChunk(stringToSign: string): Promise<string>
}

export async function authenticate(
  request: S3Request,
  ring: KeyRing,
  region: string,
  nowMs: number,
): Promise<Authentication> {
  const claim = readClaim(request)
  requireScope(claim, region)
  const known = ring.get(claim.accessKeyId)
  if (!known) throw new S3Error('InvalidAccessKeyId')
  requireTime(claim, nowMs)
  requireSigned(claim, request)
  const payload = payloadOf(claim, request)
  const signingDate = new Date(claim.signedAtMs)
  const expected = await signatureAgain(known, claim, request, signingDate)
  if (!sameSignature(expected, claim.signature)) throw new S3Error('SignatureDoesNotMatch')
  const { date, service } = claim.scope
  return {
    key: known.key,
    payload,
    seedSignature: claim.signature,
    signingScope: `${isoBasic(signingDate)}\n${date}/${region}/${service}/aws4_request`,
    signChunk: (stringToSign) => known.signer.sign(stringToSign, { signingDate }),
  }
}

function requireScope({ scope, lifetimeMs, signedAtMs }: CredentialClaim, region: string): void {
  const refusal =
    lifetimeMs === undefined ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError'
  if (scope.region !== region) {
    const message = `The credential is malformed; the region '${scope.region}' is wrong; expecting '${region}'`
    throw new S3Error(refusal, message, { Region: region })
  }
  if (scope.date !== isoBasic(new Date(signedAtMs)).slice(0, 8)) throw new S3Error(refusal)
}

function requireTime({ signedAtMs, lifetimeMs }: CredentialClaim, nowMs: number): void {
  const times = {
    RequestTime: isoBasic(new Date(signedAtMs)),
    ServerTime: new Date(nowMs).toISOString(),
    MaxAllowedSkewMilliseconds: String(MAX_SKEW_MS),
  }
  if (lifetimeMs === undefined) {
    if (Math.abs(nowMs - signedAtMs) > MAX_SKEW_MS)
      throw new S3Error('RequestTimeTooSkewed', undefined, times)
    return
  }
  if (signedAtMs > nowMs + MAX_SKEW_MS) throw new S3Error('AccessDenied', 'Request is not valid yet', times)
  if (nowMs > signedAtMs + lifetimeMs) throw new S3Error('AccessDenied', 'Request has expired', times)
}

/** The signature must cover the host and every `x-amz-` header, because others could be changed in transit. */
function requireSigned(claim: CredentialClaim, request: S3Request): void {
  const sent = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !inQuery(request, name),
  )
  const unsigned = ['host', ...sent].filter((name) => !claim.signedHeaders.includes(name))
  if (unsigned.length > 0) {
    const message = 'There were headers present in the request which were not signed'
    throw new S3Error('AccessDenied', message, { HeadersNotSigned: unsigned.join(', ') })
  }
}

function payloadOf(claim: CredentialClaim, request: S3Request): string {
  const declared = request.headers['x-amz-content-sha256']
  if (declared) return declared
  if (claim.lifetimeMs !== undefined) return 'UNSIGNED-PAYLOAD'
  throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256')
}

async function signatureAgain(
  { signer }: KeyAndSigner,
  claim: CredentialClaim,
  request: S3Request,
  signingDate: Date,
): Promise<string> {
  const signed = new Set(claim.signedHeaders)
  const headers = Object.fromEntries(claim.signedHeaders.map((name) => [name, request.headers[name] ?? '']))
  const signable = {
    method: request.method,
    path: request.path,
    headers,
    query: queryRecord(request.query),
  } as Signable
  if (claim.lifetimeMs === undefined) {
    const again = await signer.sign(signable, { signingDate, signableHeaders: signed })
    return /Signature=(\w+)$/.exec(again.headers.authorization ?? '')?.[1] ?? ''
  }
  // The signer reads the payload's digest from a header, so a digest in the query is moved there. For a body that it
  // cannot hash, the signer uses UNSIGNED-PAYLOAD, which is also what a presigned URL without a digest means.
  signable.body = {}
  for (const name of Object.keys(signable.query!)) {
    if (/^x-amz-(algorithm|credential|date|signedheaders|expires|signature)$/i.test(name))
      delete signable.query![name]
    else if (/^x-amz-content-sha256$/i.test(name)) {
      signable.headers[name] = String(signable.query![name])
      delete signable.query![name]
    }
  }
  const again = await signer.presign(signable, {
    signingDate,
    expiresIn: claim.lifetimeMs / 1000,
    signableHeaders: signed,
    unhoistableHeaders: signed,
  })
  return String(again.query?.['X-Amz-Signature'])
}

function queryRecord(query: URLSearchParams): Record<string, string | string[]> {
  const names = [...new Set(query.keys())]
  return Object.fromEntries(names.map((name) => [name, only(query.getAll(name))]))
}

const only = (values: string[]): string | string[] => (values.length === 1 ? values[0]! : values)

function inQuery({ query }: S3Request, header: string): boolean {
  return query.has('X-Amz-Signature') && [...query.keys()].some((name) => name.toLowerCase() === header)
}

const isoBasic = (date: Date): string => date.toISOString().replace(/[-:]|\.\d+/g, '')

/** What a request claims in its `Authorization` header or its presigned query; not yet verified. */
export interface CredentialClaim {
  accessKeyId: string
  scope: { date: string; region: string; service: string }
  signedHeaders: string[]
  signature: string
  signedAtMs: number
  /** Only set for a presigned URL. */
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

/** `<key id>/<date>/<region>/s3/aws4_request`; the key id itself may contain slashes. */
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

/** Compares signatures in constant time. */
export function sameSignature(expected: string, claimed: string | undefined): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(claimed ?? '')]
  return left.length === right.length && timingSafeEqual(left, right)
}
