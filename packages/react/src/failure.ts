import type { FileUpload } from './file-upload.ts'

/** A request that got a response, but not the expected one. Without a response, `fetch` throws its own error. */
export class Failure extends Error {
  readonly status: number
  /** One of Sluice's error codes, or of this package's own: lists show their text for it, in the page's language. */
  readonly code: string | undefined

  constructor(message: string, status: number, code?: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** A response that says nothing more. */
export const failureOf = (status: number) =>
  new Failure(`The server responded with ${status}`, status, 'status')

/** Temporary statuses, in addition to 5xx: the server is busy, or another request still has the upload locked. */
const PASSING = [408, 409, 423, 425, 429]

/** No status means no response: the network is down, which is also temporary. */
export function passes(status: number | undefined): boolean {
  return !status || status >= 500 || PASSING.includes(status)
}

/** Whether a retry cannot help: a permanent status, or a file that was changed or deleted after it was picked. */
export function isLasting(error: unknown): boolean {
  if (error instanceof Failure) return !passes(error.status)
  return (error as Error | undefined)?.name === 'NotReadableError'
}

const LASTING = [
  'type_not_allowed',
  'type_mismatch',
  'file_too_large',
  'file_changed',
  'token_exhausted',
  'upload_rejected',
]

/** Whether the upload has failed, and the same file would fail again. */
export const failsAgain = ({ state, code = '' }: Pick<Partial<FileUpload>, 'state' | 'code'>) =>
  state === 'failed' && LASTING.includes(code)

/** Why an upload is waiting or has failed. */
export type Reason = { reason: string; code: string | undefined; status: number | undefined }

/** For an error that passes, which without a response is the network's. */
export function waitingFor(error: unknown): Reason {
  if (error instanceof Failure) return failedBy(error)
  return { reason: 'Waiting for the network', code: 'network', status: undefined }
}

export function failedBy(error: Error): Reason {
  const { status, code } = error instanceof Failure ? error : { status: undefined, code: undefined }
  const isChanged = error.name === 'NotReadableError'
  return { reason: error.message, code: isChanged ? 'file_changed' : code, status }
}

/** The error in Sluice's response. */
export function readFailure(status: number, answer: string | undefined): Failure {
  try {
    const { detail, code } = JSON.parse(answer ?? '') as { detail?: unknown; code?: unknown }
    if (typeof detail === 'string' && detail)
      return new Failure(detail, status, typeof code === 'string' ? code : undefined)
  } catch {
    // Not every response is from Sluice.
  }
  return failureOf(status)
}
