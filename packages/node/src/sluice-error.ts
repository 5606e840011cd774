import type { ErrorCode } from './generated/types.ts'

export type FieldError = { field: string; message: string }

type Told = {
  code: SluiceError['code']
  message: string
  status?: number | undefined
  errors?: FieldError[] | undefined
  requestId?: string | undefined
  cause?: unknown
}

/** Everything that a call can fail with. Go by `code`: it is stable, and a later version may add to the ones known today. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  /** `no_answer`: the network or the server was away. `unexpected_answer`: it was not Sluice that answered. */
  readonly code: ErrorCode | 'no_answer' | 'unexpected_answer' | (string & {})
  /** Without an answer there is none. */
  readonly status: number | undefined
  /** Which fields of the request were wrong. */
  readonly errors: FieldError[]
  /** What to quote when you ask your administrator. */
  readonly requestId: string | undefined

  constructor({ code, message, status, errors = [], requestId, cause }: Told) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.errors = errors
    this.requestId = requestId
  }
}

export function noAnswer(cause: unknown): SluiceError {
  const { message } = cause as Error
  return new SluiceError({ code: 'no_answer', message: `Sluice did not respond: ${message}`, cause })
}

/** From the body of an answer that refuses. */
export async function refusal(response: Response): Promise<SluiceError> {
  const { status, headers } = response
  const requestId = headers.get('X-Request-Id') ?? undefined
  const problem = await response.json().catch(() => undefined)
  if (typeof problem?.code !== 'string')
    return new SluiceError({
      code: 'unexpected_answer',
      message: `The response had status ${status}.`,
      status,
      requestId,
    })
  const { code, errors, detail } = problem
  return new SluiceError({ code, errors, status, requestId, message: detail })
}
