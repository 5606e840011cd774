import { Failure, isLasting, passes, reasonOf } from './failure.ts'
import { MAX_DELAY_MS, online, persist } from './persist.ts'
import type { Tokens } from './tokens.ts'

type Options = {
  tokens: Tokens
  /** Why it waits, for people; told again at each failure. */
  tell(reason: string): void
  fetch: typeof globalThis.fetch
  /** Held up just before it is sent. */
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

type TusError = Error & {
  originalResponse?: { getStatus(): number } | null
  causingError?: Error | null
}

/** Half a minute between attempts, for the seven days that an upload may lie still. It counts again when bytes arrive. */
const RETRY_DELAYS_MS = [0, 1000, 3000, 5000, 10_000, ...Array<number>(20_160).fill(30_000)]
/** The upload is gone: starting over is right. */
const GONE = [404, 410]
/** A token of just now that is refused again and again will not be taken later. */
const MOST_REFUSED_TOKENS = 4

/**
 * Options for tus-js-client that keep an upload going for as long as it lives. By themselves they
 * count every failure, being offline included, and give up after the last of `retryDelays`; and they start over
 * when they are not told the offset, whatever the reason. So whatever passes is waited for here, before they hear
 * of it: a token that cannot be had, a network or a server that is away. A token that ran out is replaced.
 */
export function keepGoing({ tokens, tell, fetch, beforeSend }: Options) {
  let used: string | undefined
  let lost = false

  async function uploadToken(): Promise<string> {
    used = (await tokens.take()).token
    return used
  }

  async function askOffset(url: string, renewed = false): Promise<TusResponse> {
    const headers = { Authorization: `Bearer ${await uploadToken()}`, 'Tus-Resumable': '1.0.0' }
    const response = await fetch(url, { method: 'HEAD', headers })
    if (response.status === 401 && !renewed) {
      tokens.refuse(used)
      return askOffset(url, true)
    }
    if (response.ok || GONE.includes(response.status)) return toTusResponse(response)
    throw new Failure(`The server responded with ${response.status}`, response.status)
  }

  return {
    retryDelays: RETRY_DELAYS_MS,
    /** Where uploads are created, as soon as a token can be had. */
    async endpoint(signal: AbortSignal): Promise<string> {
      return (await persist(tokens.take, signal, tell)).uploadUrl
    },

    async onBeforeRequest(request: TusRequest, file: { data: unknown }): Promise<void> {
      const signal = watchAbort(request)
      if (request.getMethod() === 'HEAD') {
        request.send = () =>
          persist(
            async () => {
              await readable(file.data)
              return askOffset(request.getURL())
            },
            signal,
            tell,
          )
        return
      }
      // An attempt that is known to be in vain is not made.
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
      // The first is tried again at once, and is not worth a word.
      if (attempt > 0)
        tell(reasonOf(status ? new Failure(`The server responded with ${status}`, status) : error))
      return passes(status)
    },
  }
}

/** Its client makes a new request when it goes on; this one must not come after that. */
function watchAbort(request: TusRequest): AbortSignal {
  const aborted = new AbortController()
  const abort = request.abort
  request.abort = () => {
    aborted.abort()
    return abort.call(request)
  }
  return aborted.signal
}

/** A file that was changed on the disk fails like a broken line each time that it is sent. */
async function readable(data: unknown): Promise<void> {
  if (data instanceof Blob) await data.slice(0, 1).arrayBuffer()
}

function toTusResponse(response: Response): TusResponse {
  return {
    getStatus: () => response.status,
    getHeader: (name) => response.headers.get(name) ?? undefined,
    getBody: () => '',
    getUnderlyingObject: () => response,
  }
}
