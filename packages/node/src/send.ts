import { retryDelayMs } from './retry.ts'
import { noAnswer, refusal, type SluiceError } from './sluice-error.ts'
import { wait } from './wait.ts'

export type SendOptions = { fetch: typeof fetch; maxRetries: number; timeoutMs: number }

type Outcome = { response: Response } | { error: SluiceError; retryAfter?: string | null }

/**
 * A `fetch` that retries after temporary errors, and throws a SluiceError for all other errors. Sending a request twice
 * is safe: requests that create something have an `Idempotency-Key`, and all others have the same result when repeated.
 */
export function sendWith({
  fetch,
  maxRetries,
  timeoutMs,
}: SendOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const given = request.method === 'POST' && !request.headers.has('Idempotency-Key')
    if (given) request.headers.set('Idempotency-Key', crypto.randomUUID())
    for (let attempt = 0; ; attempt++) {
      const outcome = await once(fetch, request.clone(), timeoutMs)
      if ('response' in outcome) return outcome.response
      const { status } = outcome.error
      const delayMs = retryDelayMs(attempt, { status, retryAfter: outcome.retryAfter ?? null })
      if (attempt >= maxRetries || delayMs === undefined) throw outcome.error
      await wait(delayMs, request.signal)
    }
  }
}

/** The body is also read here: a truncated body does not count as a response. */
async function once(send: typeof fetch, request: Request, timeoutMs: number): Promise<Outcome> {
  try {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)])
    const response = await send(request, { signal })
    if (!response.ok)
      return { error: await refusal(response), retryAfter: response.headers.get('Retry-After') }
    if (response.status === 204) return { response }
    return { response: new Response(await response.arrayBuffer(), response) }
  } catch (cause) {
    request.signal.throwIfAborted()
    return { error: noAnswer(cause, request.url) }
  }
}
