/**
 * The kinds of bucket errors, by what can be done about them. `trouble` is a transient error (no response, 5xx,
 * SlowDown), and `refused` is permanent until someone changes something. `no_such_upload`: the bucket has no such
 * multipart upload. `exists`: there is already an object with that key. `damaged`: the bytes did not arrive as they were
 * sent. `impossible`: the parts can never become the object. `aborted`: Sluice aborted the request.
 */
export type BucketErrorKind =
  | 'trouble'
  | 'refused'
  | 'no_such_upload'
  | 'exists'
  | 'damaged'
  | 'impossible'
  | 'aborted'

/** The parts of the bucket's response that help to find the cause. */
type Told = {
  status: number
  /** Only the bucket's message, because the rest of the body may contain the string that was signed. */
  words: string
  details: string
  /** The bucket's region, from the body. */
  region: string | undefined
  /** The bucket's region, from a header. */
  regionHeader: string | undefined
  bucket: string | undefined
  serverTime: string | undefined
}

export class BucketError extends Error {
  override readonly name = 'BucketError'
  readonly kind: BucketErrorKind
  /** The provider's code, such as `AccessDenied`, or one of Sluice's own, such as `timeout`. */
  readonly code: string
  /** The bucket's response. Undefined if there was none. */
  readonly told: Told | undefined

  /** The number of attempts that were sent. */
  attempts = 1

  constructor(
    kind: BucketErrorKind,
    code: string,
    message: string,
    { cause, told }: { cause?: unknown; told?: Told } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.kind = kind
    this.code = code
    this.told = told
  }
}

export function isBucketError(error: unknown): error is BucketError {
  return error instanceof Error && error.name === 'BucketError'
}

/** The kind of error for each code. A code is more reliable than a status, which some providers choose freely. */
const KINDS: Record<Exclude<BucketErrorKind, 'aborted'>, readonly string[]> = {
  trouble: [
    ...['SlowDown', 'InternalError', 'ServiceUnavailable', 'RequestTimeout', 'Throttling', 'BadGateway'],
    ...['TooManyRequests', 'OperationAborted', 'ConditionalRequestConflict', 'RequestLimitExceeded'],
    ...['ServerBusy', 'OperationTimedOut'],
  ],
  // Azure: the blocks were discarded, or made into a blob by an earlier request.
  no_such_upload: ['NoSuchUpload', 'InvalidBlockList'],
  exists: ['PreconditionFailed', 'BlobAlreadyExists', 'UnauthorizedBlobOverwrite'],
  damaged: ['BadDigest', 'Md5Mismatch', 'Crc64Mismatch'],
  impossible: [
    ...[
      'InvalidPart',
      'InvalidPartOrder',
      'EntityTooSmall',
      'EntityTooLarge',
      'MalformedXML',
      'NotImplemented',
    ],
    ...['InvalidBlobOrBlock', 'InvalidBlockId', 'BlockListTooLong', 'BlockCountExceedsLimit'],
  ],
  refused: [
    ...[
      'AccessDenied',
      'InvalidRequest',
      'InvalidArgument',
      'NoSuchBucket',
      'NoSuchKey',
      'InvalidBucketName',
    ],
    ...['AllAccessDisabled', 'AccountProblem', 'InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken'],
    ...['InvalidToken', 'InvalidStorageClass', 'KeyTooLongError', 'MethodNotAllowed', 'QuotaExceeded'],
    ...['RequestTimeTooSkewed', 'XAmzContentChecksumMismatch', 'InvalidDigest', 'MissingContentMD5'],
    ...['KMS.NotFoundException', 'KMS.DisabledException', 'KMS.KMSInvalidStateException'],
    ...['InvalidBlobType', 'BlobImmutableDueToPolicy', 'BlobArchived', 'SnapshotsPresent'],
  ],
}
const KIND_OF_CODE = new Map(
  Object.entries(KINDS).flatMap(([kind, codes]) => codes.map((code) => [code, kind as BucketErrorKind])),
)

/** 409 means that another conditional write to the same key is in progress. */
const PASSING_STATUS = new Set([408, 409, 425, 429])

function kindOf(status: number, code: string): BucketErrorKind {
  const known = KIND_OF_CODE.get(code)
  if (known) return known
  if (status === 412) return 'exists'
  if (status === 501) return 'impossible'
  // A 200 that contains an unknown kind of error counts as transient.
  return status < 300 || isPassing(status) ? 'trouble' : 'refused'
}

export function isPassing(status: number): boolean {
  return status >= 500 || PASSING_STATUS.has(status)
}

const UNEXPLAINED = 'The response does not say why: check that the endpoint is that of a storage service.'

/** Reads the error from an unsuccessful response, or from a 200 that contains an error. `text` is the body. */
export function readFault(
  operation: string,
  bucket: string,
  status: number,
  text: string,
  headers: Record<string, string | string[] | undefined>,
): BucketError {
  const code = shorten(tag(text, 'Code') ?? one(headers['x-ms-error-code']), 64) || `HTTP ${status}`
  const told: Told = {
    status,
    // Azure adds the request's id and time in further lines.
    words: shorten(tag(text, 'Message')?.split('\n')[0], 200),
    details: shorten(tag(text, 'Details') ?? expiryIn(tag(text, 'AuthenticationErrorDetail')), 400),
    region: tag(text, 'Region'),
    regionHeader: one(headers['x-amz-bucket-region']),
    bucket: tag(text, 'BucketName'),
    serverTime: tag(text, 'ServerTime') ?? one(headers.date),
  }
  const kind = kindOf(status, code)
  const got = code.startsWith('HTTP ') ? code : `${status} ${code}`
  const why = hintFor(code, told) || told.words || (kind === 'refused' ? UNEXPLAINED : '')
  const message = `${operation} on the bucket ${bucket} got ${got}. ${why}`.trim()
  return new BucketError(kind, code, message, { told })
}

/**
 * The error for a response that is not the provider's: a proxy's page, or a truncated response. Such a response does not
 * show whether the request took effect.
 */
export function badResponse(operation: string): BucketError {
  return new BucketError(
    'trouble',
    'BadAnswer',
    `The response to ${operation} is not that of a storage service. Is there a proxy or a login page at the endpoint?`,
  )
}

/**
 * The bucket's messages are stored and displayed. Control characters and lone surrogates are replaced, because the
 * database rejects NUL and lone surrogates.
 */
export function shorten(text = '', length: number): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, length)
    .toWellFormed()
}

function hintFor(code: string, { status, region, regionHeader, details }: Told): string | undefined {
  if ((status >= 300 && status < 400) || code === 'AuthorizationHeaderMalformed')
    return `The bucket is in ${region ?? regionHeader ?? 'another region'}: correct the Data Store's region or endpoint.`
  if (code === 'RequestTimeTooSkewed') return "This server's clock is wrong."
  if (details.startsWith(SAS_EXPIRED))
    return 'The SAS has expired. Create another one, and enter it in the Data Store.'
  if (code === 'AccessDenied' || status === 403)
    return "The Data Store's credentials do not allow this: check them and their policy."
  if (code === 'NoSuchBucket') return 'There is no such bucket at this endpoint.'
  if (code === 'ContainerNotFound') return 'There is no such container in this storage account.'
  if (code === 'InvalidPartOrder')
    return 'The bucket reports that the parts are out of order, although Sluice sent them in order. Upload the file again.'
  if (code === 'InvalidPart')
    return 'A part differs from the recorded one: either a delayed request arrived with different bytes, or the bucket dropped the part. Upload the file again.'
  return undefined
}

const SAS_EXPIRED = 'Signed expiry time'

/** Azure's details about refused credentials. Others than this one may contain the text that was signed. */
const expiryIn = (detail = ''): string => (detail.startsWith(SAS_EXPIRED) ? detail : '')

const one = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : value?.[0]

/**
 * Returns the text of the first element with this name. The elements read
 * in this way are never nested in each other, so no XML parser is needed.
 */
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
