import { Failure, failureOf, passes, type Reason, readFailure, waitingFor } from './failure.ts'
import type { Transport } from './file-upload.ts'
import { MAX_DELAY_MS, online, persist } from './persist.ts'
import type { Tokens } from './tokens.ts'

/**
 * The requests of one upload, or of one lane of it. They wait out temporary problems: an unavailable token, a network
 * or a server that is down. An expired token is replaced.
 */
export type Requests = ReturnType<typeof createRequests>

export type Context = {
  tokens: Tokens
  transport: Transport
  /** Aborted when the upload is stopped. After that, nothing is sent or reported. */
  stopped: AbortSignal
  /** Called with the reason why the upload is waiting, again on each failure. */
  onWait(reason: Reason): void
}

export type Answer = {
  method: string
  status: number
  body: string
  header(name: string): string | undefined
}

type Sent = {
  method: 'POST' | 'PATCH'
  url: string
  headers: Record<string, string>
  body?: Blob
  onProgress?(sentBytes: number): void
}

/**
 * After the first few attempts, retries every half minute for the seven days that an upload may be idle. The count
 * restarts when bytes arrive.
 */
const RETRY_DELAYS_MS = [0, 1000, 3000, 5000, 10_000, ...Array<number>(20_160).fill(30_000)]
/** If this many new tokens in a row are refused, later ones will not be accepted either. */
const MOST_REFUSED_TOKENS = 4
/** Statuses that mean that the upload no longer exists on the server. */
export const GONE = [404, 410]
const TUS = { 'Tus-Resumable': '1.0.0' }
export const NATIVE_FETCH: typeof fetch = (...args) => globalThis.fetch(...args)

export function createRequests({ tokens, transport, stopped, onWait }: Context) {
  const { fetch = NATIVE_FETCH } = transport
  let attempts = 0

  async function askOnce(method: 'HEAD' | 'GET', url: string, renewed = false): Promise<Response> {
    const { token } = await tokens.take()
    const response = await fetch(url, { method, headers: { ...TUS, Authorization: `Bearer ${token}` } })
    if (response.status === 401 && !renewed) {
      tokens.refuse(token)
      return askOnce(method, url, true)
    }
    if (response.ok || GONE.includes(response.status)) return response
    throw failureOf(response.status)
  }

  /** Resolves when the next attempt is due, or throws if it cannot help. */
  async function waitAfter(token: string, answer: Answer | undefined): Promise<void> {
    stopped.throwIfAborted()
    const { status, body } = answer ?? {}
    if (status === 401) tokens.refuse(token)
    const delayMs = RETRY_DELAYS_MS[attempts]
    const mayRetry = status === 401 ? attempts < MOST_REFUSED_TOKENS : passes(status)
    if (!mayRetry || delayMs === undefined) throw readFailure(status ?? 0, body)
    // The first failure is retried immediately, and is not reported.
    if (attempts > 0 && status !== 401) onWait(waitingFor(status && failureOf(status)))
    attempts += 1
    await online(delayMs)
    // Skips an attempt that is certain to fail.
    if (status || navigator.onLine) return
    onWait(waitingFor(undefined))
    await online(MAX_DELAY_MS)
  }

  return {
    /** Returns where uploads are created, as soon as a token is available. */
    endpoint: async () => (await persist(tokens.take, stopped, onWait)).uploadUrl,

    /**
     * Repeats the request until it has a response, which may be that the upload no longer exists. Reads a byte of the
     * blob first, because sending a file that has changed on disk fails like a broken connection.
     */
    async ask(method: 'HEAD' | 'GET', url: string, blob?: Blob): Promise<Answer> {
      const attempt = async () => {
        await blob?.slice(0, 1).arrayBuffer()
        return askOnce(method, url)
      }
      const response = await persist(attempt, stopped, onWait)
      const { status, headers } = response
      const body = method === 'GET' ? await response.text() : ''
      return { method, status, body, header: (name) => headers.get(name) ?? undefined }
    },

    /**
     * Sends the request once. Resolves to undefined if it failed and the next attempt is due: it may have changed the
     * upload, so ask for the offset first. A creation without a body is not aborted, because it may have succeeded.
     */
    async send(
      { method, url, headers, body, onProgress }: Sent,
      onAnswer?: (answer: Answer) => void,
    ): Promise<Answer | undefined> {
      const { token } = await persist(tokens.take, stopped, onWait)
      const xhr = new XMLHttpRequest()
      xhr.open(method, url)
      for (const [name, value] of Object.entries({ ...TUS, ...headers, Authorization: `Bearer ${token}` }))
        xhr.setRequestHeader(name, value)
      await transport.beforeSend?.(xhr, method, stopped)
      stopped.throwIfAborted()
      const answer = await exchange(xhr, body, onProgress, body && stopped)
      const told = answer && { method, ...answer }
      if (told) onAnswer?.(told)
      if (told && told.status < 300) return told
      await waitAfter(token, told)
      return undefined
    },

    /** Call it when the server has confirmed more bytes than before. */
    moved(): void {
      attempts = 0
    },
  }
}

/** Resolves to undefined if there was no response. `fetch` could not report the progress. */
function exchange(
  xhr: XMLHttpRequest,
  body: Blob | undefined,
  onProgress: ((sentBytes: number) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<Omit<Answer, 'method'> | undefined> {
  return new Promise((resolve) => {
    const abort = () => {
      xhr.abort()
      resolve(undefined)
    }
    const header = (name: string) => xhr.getResponseHeader(name) ?? undefined
    xhr.onload = () => resolve({ status: xhr.status, body: xhr.responseText, header })
    xhr.onerror = () => resolve(undefined)
    xhr.onloadend = () => signal?.removeEventListener('abort', abort)
    if (onProgress) xhr.upload.onprogress = ({ loaded }) => onProgress(loaded)
    signal?.addEventListener('abort', abort)
    xhr.send(body)
  })
}

/** Throws if the response has no offset, because then it is not from Sluice. */
export function offsetIn({ header, status }: Answer): number {
  const offset = Number.parseInt(header('Upload-Offset') ?? '', 10)
  if (Number.isNaN(offset)) throw new Failure('The server responded without an offset', status)
  return offset
}
