import { Failure, isLasting, passes, reasonOf } from './failure.ts'
import { MAX_DELAY_MS, online, persist } from './persist.ts'
import type { Tokens } from './tokens.ts'

type Options = {
  tokens: Tokens
  /** Called with the reason why the upload is waiting, again on each failure. */
  tell(reason: string): void
  fetch: typeof globalThis.fetch
  /** Called just before each request is sent. */
  beforeSend?(request: TusRequest, signal: AbortSignal): Promise<void>
}

export type TusResponse = {
  getStatus(): number
  getHeader(name: string): string | undefined
  getBody(): string
  // biome-ignore lint/suspicious/noExplicitAny: as tus-js-client declares it
  getUnderlyingObject(): any
}

export type TusRequest = {
  getMethod(): string
  getURL(): string
  setHeader(name: string, value: string): void
  send(body?: unknown): Promise<TusResponse>
  abort(): Promise<void>
  // biome-ignore lint/suspicious/noExplicitAny: as tus-js-client declares it
  getUnderlyingObject(): any
}

export type TusError = Error & {
  originalRequest?: { getMethod(): string } | null
  originalResponse?: { getStatus(): number; getBody?(): string } | null
  causingError?: Error | null
}

/**
 * After the first few attempts, retries every half minute for the seven days that an upload may be idle. The count
 * restarts when bytes arrive.
 */
const RETRY_DELAYS_MS = [0, 1000, 3000, 5000, 10_000, ...Array<number>(20_160).fill(30_000)]
/** Statuses that mean that the upload no longer exists on the server: the client starts over. */
export const GONE = [404, 410]
/** If this many new tokens in a row are refused, later ones will not be accepted either. */
const MOST_REFUSED_TOKENS = 4

/**
 * Options for tus-js-client that keep an upload going for as long as it exists. By default, the client counts every
 * failure, including being offline, and gives up after the last of `retryDelays`; and it starts over if it cannot get
 * the offset, whatever the reason. So this code waits out temporary problems before the client notices them: an
 * unavailable token, a network or a server that is down. An expired token is replaced.
 */
export function keepGoing({ tokens, tell, fetch, beforeSend }: Options) {
  let used: string | undefined
  let lost = false

  async function uploadToken(): Promise<string> {
    used = (await tokens.take()).token
    return used
  }

  async function ask(method: 'HEAD' | 'GET', url: string, renewed = false): Promise<Response> {
    const headers = { Authorization: `Bearer ${await uploadToken()}`, 'Tus-Resumable': '1.0.0' }
    const response = await fetch(url, { method, headers })
    if (response.status === 401 && !renewed) {
      tokens.refuse(used)
      return ask(method, url, true)
    }
    if (response.ok || GONE.includes(response.status)) return response
    throw new Failure(`The server responded with ${response.status}`, response.status)
  }

  return {
    retryDelays: RETRY_DELAYS_MS,
    /** Returns the address where uploads are created, as soon as a token is available. */
    async endpoint(signal: AbortSignal): Promise<string> {
      return (await persist(tokens.take, signal, tell)).uploadUrl
    },

    /** Returns the body of the upload's list of lanes, or of the response that it no longer exists. */
    async list(url: string, signal: AbortSignal): Promise<string> {
      return (await persist(() => ask('GET', url), signal, tell)).text()
    },

    async onBeforeRequest(request: TusRequest, file: { data: unknown }): Promise<void> {
      const signal = watchAbort(request)
      if (request.getMethod() === 'HEAD') {
        request.send = () =>
          persist(
            async () => {
              await readable(file.data)
              return toTusResponse(await ask('HEAD', request.getURL()))
            },
            signal,
            tell,
          )
        return
      }
      // Skips an attempt that is certain to fail.
      if (lost && !navigator.onLine) {
        tell(reasonOf(undefined))
        await online(MAX_DELAY_MS)
      }
      const token = await persist(uploadToken, signal, tell)
      await beforeSend?.(request, signal)
      if (signal.aborted) await new Promise(() => {})
      request.setHeader('Authorization', `Bearer ${token}`)
    },

    onShouldRetry(error: TusError, attempt: number): boolean {
      const status = error.originalResponse?.getStatus()
      if (error.causingError && isLasting(error.causingError)) return false
      lost = !status
      if (status === 401) tokens.refuse(used)
      if (status === 401) return attempt < MOST_REFUSED_TOKENS
      // The first failure is retried immediately, and is not reported.
      if (attempt > 0)
        tell(reasonOf(status ? new Failure(`The server responded with ${status}`, status) : error))
      return passes(status)
    },
  }
}

/** When a paused upload continues, tus-js-client makes a new request, and must not send this one. */
function watchAbort(request: TusRequest): AbortSignal {
  const aborted = new AbortController()
  const abort = request.abort
  request.abort = () => {
    aborted.abort()
    return abort.call(request)
  }
  return aborted.signal
}

/** Reads a byte first, because sending a file that has changed on disk fails like a broken connection. */
async function readable(data: unknown): Promise<void> {
  if (data instanceof Blob) await data.slice(0, 1).arrayBuffer()
}

export function toTusResponse(response: Response): TusResponse {
  return {
    getStatus: () => response.status,
    getHeader: (name) => response.headers.get(name) ?? undefined,
    getBody: () => '',
    getUnderlyingObject: () => response,
  }
}
