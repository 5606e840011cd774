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

/** Every error that a call can throw. Use `code`: it is stable, and a later version may add codes. */
export class SluiceError extends Error {
  override readonly name = 'SluiceError'
  /**
   * `no_answer`: the network or the server was unavailable. `unexpected_answer`: the response was not from Sluice.
   */
  readonly code: ErrorCode | 'no_answer' | 'unexpected_answer' | (string & {})
  /** Undefined if there was no response. */
  readonly status: number | undefined
  /** The invalid fields of the request. */
  readonly errors: FieldError[]
  /** Include it when you contact your administrator. */
  readonly requestId: string | undefined

  constructor({ code, message, status, errors = [], requestId, cause }: Told) {
    super(message, { cause })
    this.code = code
    this.status = status
    this.errors = errors
    this.requestId = requestId
  }
}

/** The message contains only the host of the address, because the rest may be secret. */
export function noAnswer(cause: unknown, address: string): SluiceError {
  const message = `Sluice at ${new URL(address).host} did not respond: ${reasonOf(cause)}`
  return new SluiceError({ code: 'no_answer', message, cause })
}

/** `fetch` throws “fetch failed”, and only its cause says why. If a host has several addresses, it has just a code. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  const inner = cause as { message?: string; code?: string } | undefined
  return inner?.message || inner?.code || message
}

/** Creates the error from the body of an error response. */
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
