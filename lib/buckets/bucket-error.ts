/**
 * What went wrong between us and a bucket, by what can be done about it:
 * `trouble` may pass (no answer, 5xx, SlowDown), `refused` will not until somebody changes something,
 * `no_such_upload`: the bucket knows no such multipart upload, `exists`: an object has that key already,
 * `impossible`: the parts can never become the object, `aborted`: we gave the request up ourselves.
 */
export type BucketErrorKind = 'trouble' | 'refused' | 'no_such_upload' | 'exists' | 'impossible' | 'aborted'

export class BucketError extends Error {
  override readonly name = 'BucketError'
  readonly kind: BucketErrorKind
  /** The provider's code, as `AccessDenied`, or ours, as `timeout`. */
  readonly code: string

  /** How often it was tried. */
  attempts = 1

  constructor(kind: BucketErrorKind, code: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.code = code
  }
}

export function isBucketError(error: unknown): error is BucketError {
  return error instanceof Error && error.name === 'BucketError'
}

const IMPOSSIBLE = new Set([
  'InvalidPart',
  'InvalidPartOrder',
  'EntityTooSmall',
  'EntityTooLarge',
  'BadDigest',
  'MalformedXML',
])
const PASSING = new Set(['SlowDown', 'InternalError', 'ServiceUnavailable', 'RequestTimeout', 'Throttling'])

/** Reads an answer that is not what was asked for. `text` is its body. */
export function readFault(
  operation: string,
  bucket: string,
  status: number,
  text: string,
  headers: Record<string, string | string[] | undefined>,
): BucketError {
  const code = shorten(tag(text, 'Code'), 64) || `HTTP ${status}`
  // Of the message only: the rest of a fault may hold the string that was signed.
  const words = shorten(tag(text, 'Message'), 200)
  const hint = hintFor(status, code, headers)
  const told = [`${operation} on the bucket ${bucket} was answered with ${status} ${code}.`, hint ?? words]
  return new BucketError(kindOf(status, code), code, told.filter(Boolean).join(' '))
}

/** Whatever a bucket writes is shown, and kept by a database that takes neither NUL nor half a character. */
function shorten(text = '', length: number): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, length)
    .toWellFormed()
}

function kindOf(status: number, code: string): BucketErrorKind {
  if (code === 'NoSuchUpload') return 'no_such_upload'
  if (status === 412) return 'exists'
  // 409: another conditional write of the same key is under way.
  if (PASSING.has(code) || status >= 500 || status === 429 || status === 408 || status === 409)
    return 'trouble'
  return IMPOSSIBLE.has(code) ? 'impossible' : 'refused'
}

function hintFor(
  status: number,
  code: string,
  headers: Record<string, string | string[] | undefined>,
): string | undefined {
  const region = headers['x-amz-bucket-region']
  if ((status >= 300 && status < 400) || code === 'AuthorizationHeaderMalformed')
    return `Its region is ${region ?? 'another one'}: correct the region or the endpoint of the Data Store.`
  if (code === 'RequestTimeTooSkewed') return 'The clock of this server is wrong.'
  if (code === 'AccessDenied' || status === 403)
    return 'The credentials of the Data Store may not do that: check them and their policy.'
  if (code === 'NoSuchBucket') return 'There is no such bucket at that endpoint.'
  return undefined
}

/** The text of the first element of that name; enough for the few flat answers of S3. */
export function tag(xml: string, name: string): string | undefined {
  const text = xml.match(new RegExp(`<${name}>([^<]*)</${name}>`))?.[1]
  return text
    ?.replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&apos;|&#39;/g, "'")
    .replace(/&#34;/g, '"')
    .replace(/&amp;/g, '&')
}
