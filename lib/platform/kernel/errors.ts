/**
 * The errors that Sluice returns on purpose. A code is stable and public; the table defines its status and its public
 * title. `detail` is for the person who made the request, and says what to do; `cause` is only for Sluice's own log.
 */
export const errorCodes = {
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_request: [400, 'The request is not valid'],
  address_not_allowed: [400, 'Sluice does not connect to that address'],
  invalid_header: [400, 'A header is missing or malformed'],
  token_missing: [401, 'A token is required'],
  token_invalid: [401, 'The token is not valid'],
  token_revoked: [401, 'The token was revoked'],
  token_expired: [401, 'The token has expired'],
  sender_token_exposed: [401, 'A Sender token must never be in a browser'],
  account_key_missing: [401, 'An account key is required'],
  account_key_invalid: [401, 'The account key is not valid'],
  signed_out: [401, 'Sign in first'],
  sign_in_failed: [401, 'Sign-in failed'],
  link_invalid: [400, 'The link is not valid'],
  origin_not_allowed: [403, 'Uploads from this origin are not allowed'],
  type_not_allowed: [403, 'Files of this type are not allowed'],
  type_mismatch: [403, 'The content does not match its declaration'],
  quota_exceeded: [403, 'The transfer quota is not sufficient'],
  token_exhausted: [403, 'The token has reached its upload limit'],
  pipe_source_off: [403, 'This source of the Pipe is off'],
  workspace_suspended: [403, 'The workspace is suspended'],
  data_store_not_ready: [403, 'The Data Store does not accept uploads yet'],
  upload_rejected: [403, 'The upload was rejected'],
  batch_sealed: [403, 'The batch is sealed'],
  upload_is_final: [403, 'A final upload accepts no bytes'],
  upload_has_lanes: [403, 'The bytes of this file go to its lanes'],
  forbidden: [403, 'Not allowed'],
  cross_site_request: [403, 'The request came from another site'],
  not_found: [404, 'Not found'],
  pipe_not_found: [404, 'No such Pipe'],
  upload_not_found: [404, 'No such upload'],
  method_not_allowed: [405, 'The method is not allowed here'],
  conflict: [409, 'The request conflicts with the current state'],
  other_protocol: [409, 'The upload uses another protocol'],
  offset_conflict: [409, 'The offset does not match the confirmed offset'],
  upload_gone: [410, 'The upload is gone'],
  version_not_supported: [412, 'The protocol version is not supported'],
  body_too_large: [413, 'The body is too large'],
  file_too_large: [413, 'The file is too large'],
  parts_used_up: [413, 'The upload has used all its parts'],
  unsupported_media_type: [415, 'The media type is not supported'],
  misdirected_host: [421, 'This server does not serve that host'],
  upload_locked: [423, 'Another request is writing to this upload'],
  rate_limited: [429, 'Too many requests'],
  checksum_mismatch: [460, 'The checksum does not match'],
  internal: [500, 'Something went wrong'],
  bucket_refused: [502, 'The bucket rejected the request'],
  unavailable: [503, 'Temporarily unavailable'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ErrorCode = keyof typeof errorCodes
export type FieldError = { field: string; message: string }

type StandardProblem = { type: string; members?: Record<string, number> }

type ErrorOptions = {
  status?: number
  fields?: FieldError[]
  /** Headers for the response, such as `Retry-After`. */
  headers?: Record<string, string>
  /** A problem type defined by a standard, and its members. */
  problem?: StandardProblem
  /** True for a temporary condition that is not a fault, and is therefore not logged. */
  passes?: boolean
  cause?: unknown
}

export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  readonly code: ErrorCode
  readonly status: number
  readonly title: string
  readonly fields: FieldError[] | undefined
  readonly headers: Record<string, string>
  readonly problem: StandardProblem | undefined
  readonly passes: boolean

  constructor(code: ErrorCode, detail?: string, options: ErrorOptions = {}) {
    super(
      detail ?? `${errorCodes[code][1]}.`,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.code = code
    this.status = options.status ?? errorCodes[code][0]
    this.title = errorCodes[code][1]
    this.fields = options.fields
    this.headers = options.headers ?? {}
    this.problem = options.problem
    this.passes = options.passes ?? false
  }
}

/**
 * For requests that the client has to repeat in a moment even though nothing is wrong, for example because a node is
 * stopping.
 */
export function notNow(detail: string, headers: Record<string, string> = {}): SluiceError {
  return new SluiceError('unavailable', detail, { headers: { 'Retry-After': '1', ...headers }, passes: true })
}

/** The maximum number of faults that a response lists, since a client may send far more. */
export const MOST_FAULTS = 20

export function invalidRequest(all: FieldError[]): SluiceError {
  const fields = all.slice(0, MOST_FAULTS)
  const detail = fields.map(({ field, message }) => `${field} ${message}`.trim()).join('; ')
  return new SluiceError('invalid_request', `${detail}.`, { fields })
}

/** Compares the name, not the class, because the server and Next.js each load their own copy of this module. */
export function isSluiceError(error: unknown): error is SluiceError {
  return error instanceof Error && error.name === 'SluiceError'
}

/** An error at startup that the operator can fix: shown as is, without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** Asserts an invariant. If it does not hold, that is a bug in Sluice, never the client's fault. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`)
}
