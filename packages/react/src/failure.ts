/** A request that was answered, but not with what was asked for. Without an answer, `fetch` throws its own error. */
export class Failure extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** Answers that stop by themselves: the server is away or busy, or another request still holds the upload. */
const PASSING = [408, 409, 423, 425, 429]

/** No status means no answer: the network is gone, which passes as well. */
export function passes(status: number | undefined): boolean {
  return !status || status >= 500 || PASSING.includes(status)
}

/** What the browser throws at a request that no wait can help: the file was changed or deleted since it was picked. */
export function isLasting(error: unknown): boolean {
  if (error instanceof Failure) return !passes(error.status)
  return (error as Error | undefined)?.name === 'NotReadableError'
}

export function reasonOf(error: unknown): string {
  return error instanceof Failure ? error.message : 'Waiting for the network'
}

/** What Sluice itself said of it, in words; else what the client noticed. */
export function tellFailure(noticed: string, answer: string | undefined): string {
  try {
    const { detail } = JSON.parse(answer ?? '') as { detail?: unknown }
    if (typeof detail === 'string' && detail) return detail
  } catch {
    // Not every answer is one of ours.
  }
  return noticed
}
