import { createSluice, type Sluice, type SluiceOptions } from './client.ts'
import { NO_STORE, problem } from './problem.ts'
import { setting } from './settings.ts'
import { SluiceError } from './sluice-error.ts'

/** What a user may upload: the fields of the token API, all of which are optional. */
export type TokenGrant = Partial<Parameters<Sluice['issueToken']>[0]>

export type TokenHandlerOptions = Pick<SluiceOptions, 'baseUrl' | 'senderToken' | 'fetch'> & {
  /** The Pipe for grants without one; defaults to SLUICE_PIPE_ID. */
  pipeId?: string
  /** What this user may upload, or nothing if they may not. Check the session, never what the body claims. */
  authorize(
    request: Request,
  ): Promise<TokenGrant | null | undefined | false> | TokenGrant | null | undefined | false
  /**
   * Called if no token was available or `authorize` threw; defaults to `console.error`. The user is not told
   * the reason.
   */
  onError?(error: unknown): void
}

/**
 * The endpoint where your pages get their upload tokens, for any framework whose handlers accept a `Request` and return
 * a `Response`. The Sender token stays in your backend.
 */
export function createTokenHandler(options: TokenHandlerOptions): (request: Request) => Promise<Response> {
  const { authorize, onError = console.error } = options
  let sluice: Sluice | undefined
  return async (request) => {
    if (request.method !== 'POST') return problem(METHOD, { Allow: 'POST' })
    try {
      const grant = await authorize(request)
      if (!grant) return problem(FORBIDDEN)
      sluice ??= createSluice(options)
      const pipeId = grant.pipeId ?? setting('pipeId', options.pipeId)
      const token = await sluice.issueToken({ ...grant, pipeId }, { signal: request.signal })
      return Response.json(token, { headers: NO_STORE })
    } catch (error) {
      // Some frameworks throw a response to signal that a user must sign in.
      if (error instanceof Response) return error
      if (!request.signal.aborted) onError(error)
      return passes(error) ? problem(UNAVAILABLE, { 'Retry-After': '5' }) : problem(INTERNAL)
    }
  }
}

const PASSING: string[] = ['no_answer', 'rate_limited', 'unavailable']

const passes = (error: unknown) => error instanceof SluiceError && PASSING.includes(error.code)

const METHOD = { status: 405, code: 'method_not_allowed', title: 'Request a token with POST' }
const FORBIDDEN = { status: 403, code: 'forbidden', title: 'Uploading is not allowed' }
const UNAVAILABLE = { status: 503, code: 'unavailable', title: 'No token is available at the moment' }
const INTERNAL = { status: 500, code: 'internal', title: 'No token is available' }
