/** This bucket's errors: S3's own codes, each with its S3 status. */
const CODES = {
  AccessDenied: [403, 'Access Denied'],
  AuthorizationHeaderMalformed: [400, 'The authorization header that you provided is not valid.'],
  AuthorizationQueryParametersError: [400, 'The authorization query parameters are not valid.'],
  BadRequest: [400, 'Object tags cannot be greater than 10'],
  BadDigest: [400, 'The checksum that you specified did not match what we received.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  IncompleteBody: [400, 'You did not provide the number of bytes specified by the Content-Length header'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The AWS Access Key Id you provided does not exist in our records.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidBucketName: [400, 'The specified bucket is not valid.'],
  InvalidDigest: [400, 'The Content-MD5 you specified is not valid.'],
  InvalidPart: [
    400,
    'One or more of the specified parts could not be found. The part may not have been uploaded, or its ETag or checksum may not match.',
  ],
  InvalidPartOrder: [400, 'The list of parts was not in ascending order.'],
  InvalidRange: [416, 'The requested range is not satisfiable'],
  InvalidRequest: [400, 'Invalid Request'],
  InvalidStorageClass: [400, 'The storage class you specified is not valid'],
  InvalidURI: [400, "Couldn't parse the specified URI."],
  KeyTooLongError: [400, 'Your key is too long'],
  MalformedXML: [400, 'The XML you provided was not well-formed or did not validate against our schema'],
  MaxMessageLengthExceeded: [400, 'Your request was too big.'],
  MetadataTooLarge: [400, 'Your metadata headers exceed the maximum allowed metadata size'],
  MissingContentLength: [411, 'You must provide the Content-Length HTTP header.'],
  MissingUploadObjectWithObjectLockHeaders: [
    400,
    'Content-MD5 or x-amz-sdk-checksum-algorithm header required to upload an object with a retention period configured using Object Lock',
  ],
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  NoSuchKey: [404, 'The specified key does not exist.'],
  NoSuchUpload: [
    404,
    'The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.',
  ],
  NotImplemented: [501, 'This bucket does not implement the requested operation.'],
  PermanentRedirect: [
    301,
    'The bucket you are attempting to access must be addressed using the specified endpoint. Please send all future requests to this endpoint.',
  ],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  RequestTimeTooSkewed: [403, 'The difference between the request time and the current time is too large.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  TooManyRequests: [429, 'Reduce your request rate for this object.'],
  XAmzContentChecksumMismatch: [
    400,
    "The provided 'x-amz-checksum' header does not match what was computed.",
  ],
  XAmzContentSHA256Mismatch: [
    400,
    "The provided 'x-amz-content-sha256' header does not match what was computed.",
  ],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type S3ErrorCode = keyof typeof CODES

/** An error that is sent to the client as S3 would send it. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
  readonly status: number
  readonly code: string
  /** Further elements of the response, such as `Region` or `ServerTime`. */
  readonly facts: Record<string, string>

  constructor(
    { status, code, message }: { status: number; code: string; message: string },
    facts: Record<string, string> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.facts = facts
  }
}

export class S3Error extends Refusal {
  override readonly name = 'S3Error'
  declare readonly code: S3ErrorCode

  constructor(code: S3ErrorCode, message: string = CODES[code][1], facts: Record<string, string> = {}) {
    super({ status: CODES[code][0], code, message }, facts)
  }
}
