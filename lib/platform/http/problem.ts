import { isDiskFull, isLockFailure, isOutage, isTooSlow } from '../db/faults.ts'
import { type ErrorCode, isSluiceError, SluiceError } from '../kernel/errors.ts'

/** RFC 9457 responses. `code` is stable; `detail` says what was wrong and what to do. */
export type Problem = {
  code: ErrorCode
  status: number
  headers: Record<string, string>
  body: string
  /** True if someone has to fix the cause, so that it is logged. */
  isFault: boolean
}

/**
 * The problem's type is the address of the error code's page, or `about:blank` if the server is still starting and does
 * not know its own address.
 */
export function toProblem(error: unknown, baseUrl: string | undefined): Problem {
  const known = isSluiceError(error) ? error : unforeseen(error)
  const body = {
    type:
      known.problem?.type ??
      (baseUrl === undefined ? 'about:blank' : `${baseUrl}/docs/problems/${known.code}`),
    title: known.title,
    status: known.status,
    detail: known.message,
    code: known.code,
    ...(known.fields && { errors: known.fields }),
    ...known.problem?.members,
  }
  const authenticate: Record<string, string> = known.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}
  return {
    code: known.code,
    status: known.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...authenticate,
      ...known.headers,
    },
    body: JSON.stringify(body),
    isFault: known.status >= 500 && !known.passes,
  }
}

function unforeseen(error: unknown): SluiceError {
  if (isOutage(error))
    return new SluiceError('unavailable', 'The database is not responding. Try again in a moment.', {
      headers: { 'Retry-After': '2' },
    })
  if (isLockFailure(error))
    return new SluiceError(
      'unavailable',
      'Another operation is changing the same records. Try again in a moment.',
      {
        headers: { 'Retry-After': '1' },
      },
    )
  if (isTooSlow(error))
    return new SluiceError(
      'unavailable',
      'The database took too long. Ask for less, such as a shorter period, or try again later.',
      { headers: { 'Retry-After': '10' } },
    )
  if (isDiskFull(error))
    return new SluiceError(
      'unavailable',
      "One of this server's disks is full. Try again when there is space.",
      {
        headers: { 'Retry-After': '30' },
      },
    )
  return new SluiceError(
    'internal',
    "An unexpected error occurred. It is logged under this response's X-Request-Id.",
  )
}
