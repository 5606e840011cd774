/** A request that got a response, but not the expected one. Without a response, `fetch` throws its own error. */
export class Failure extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

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

export function reasonOf(error: unknown): string {
  return error instanceof Failure ? error.message : 'Waiting for the network'
}

/** The message in Sluice's response, or otherwise the client's own. */
export function tellFailure(noticed: string, answer: string | undefined): string {
  try {
    const { detail } = JSON.parse(answer ?? '') as { detail?: unknown }
    if (typeof detail === 'string' && detail) return detail
  } catch {
    // Not every response is from Sluice.
  }
  return noticed
}
