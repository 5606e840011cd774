import { type Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setImmediate as nextTurn } from 'node:timers/promises'

type Outgoing = {
  url: URL
  agent: Agent
  method: string
  /** The path with the encoded query. */
  path: string
  headers: Record<string, string>
  body: readonly Uint8Array[]
  /** How many object bytes are requested, if any. Responses without object bytes are short. */
  wantedBytes?: number | undefined
  /** Ends the request after this long without a byte in either direction. */
  silenceMs: number
  /**
   * Ends the request after this long in total, including the response: bytes that arrive one by one do not count as
   * silence.
   */
  deadlineMs: number
  memory?: ResponseMemory | undefined
  signal?: AbortSignal | undefined
}

export type BucketResponse = {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

/**
 * Sends one HTTP request, whose body is in memory, and returns the response. Neither retries the request nor interprets
 * the response.
 */
export function exchange(outgoing: Outgoing): Promise<BucketResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<BucketResponse>()
  const request = open(outgoing)
  let responded = false
  let late: Error | undefined
  const end = (error: Error) => {
    late = error
    request.destroy(error)
  }
  const { silenceMs, deadlineMs, signal } = outgoing
  // Node's own `signal` option takes two more listeners on each request.
  const abort = () => end(Object.assign(new Error('aborted'), { code: 'ABORT_ERR' }))
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  request.setTimeout(silenceMs, () => end(timeout(`silent for ${silenceMs} ms`)))
  const timer = setTimeout(() => end(timeout(`not done after ${deadlineMs} ms`)), deadlineMs)
  // A complete response is returned even if the bucket did not read the entire request body.
  request.on('error', (error) => responded || reject(late ?? error))
  const read = async (response: IncomingMessage) => {
    const collected = await collect(response, outgoing)
    responded = true
    await stopSending(request)
    return collected
  }
  request.once('response', (response) => read(response).then(resolve, (error) => reject(late ?? error)))
  send(request, outgoing)
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  })
}

function open({ url, agent, method, path, headers }: Outgoing): ClientRequest {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const { hostname, port } = url
  const host = hostname.replace(/^\[|\]$/g, '')
  return request({ host, port, agent, method, path, headers })
}

function send(request: ClientRequest, { url, body }: Outgoing): void {
  if (url.protocol === 'https:' && body.length > 1) sendInTurn(request, body)
  else sendAtOnce(request, body)
}

/** Sends all chunks in one writev, without copying them. */
function sendAtOnce(request: ClientRequest, body: readonly Uint8Array[]): void {
  request.cork()
  for (const chunk of body) request.write(chunk)
  request.end()
  request.uncork()
}

/**
 * Sends one chunk after another. With TLS, Node would otherwise copy all chunks into one buffer, and keep all of the
 * ciphertext until it is written; both are as large as the body. A single chunk is not copied.
 */
function sendInTurn(request: ClientRequest, body: readonly Uint8Array[]): void {
  let sent = 0
  const next = (error?: Error | null): void => {
    if (error || request.destroyed) return
    const chunk = body[sent++]
    if (sent === body.length) request.end(chunk)
    else request.write(chunk, next)
  }
  next()
}

/**
 * The response may arrive one turn of the event loop before the callback that confirms the last write. Bytes that are
 * still unsent after that turn must not be sent any more, because their memory is about to be reused.
 */
async function stopSending(request: ClientRequest): Promise<void> {
  if (!request.writableFinished) await nextTurn()
  if (!request.writableFinished) request.destroy()
}

function timeout(what: string): Error {
  return Object.assign(new Error(what), { code: 'timeout' })
}

/** The memory account that responses count against. `take` returns false if not enough is left. */
export type ResponseMemory = { take(bytes: number): boolean; give(bytes: number): void }

/** An S3 response has a few hundred bytes, or a few thousand if it contains keys of 1 KiB. */
const MAX_RESPONSE_BYTES = 64 * 1024
const FIRST_BYTES = 1024

/**
 * Stores a response in one block of memory, which grows as bytes arrive, so that a short response uses little memory. A
 * refusal that is too long is truncated. Requested object bytes are not counted here, because the caller has already
 * counted their memory.
 */
async function collect(
  response: IncomingMessage,
  { wantedBytes = 0, memory }: { wantedBytes?: number | undefined; memory?: ResponseMemory | undefined },
): Promise<BucketResponse> {
  const status = response.statusCode!
  const succeeds = status >= 200 && status < 300
  const freeBytes = succeeds ? wantedBytes : 0
  const maxBytes = Math.max(freeBytes, MAX_RESPONSE_BYTES)
  let kept = Buffer.alloc(0)
  let bytes = 0
  let takenBytes = 0
  const grow = (needed: number) => {
    const size = Math.min(Math.max(needed, freeBytes, FIRST_BYTES, 4 * kept.length), maxBytes)
    const more = Math.max(size - freeBytes - takenBytes, 0)
    if (memory && !memory.take(more)) throw new Error('there is no memory for the response')
    takenBytes += more
    const grown = Buffer.allocUnsafeSlow(size)
    kept.copy(grown)
    kept = grown
  }
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const over = bytes + chunk.length > maxBytes
      if (over && succeeds) throw tooLong()
      const end = Math.min(bytes + chunk.length, maxBytes)
      if (end > kept.length) grow(end)
      chunk.copy(kept, bytes, 0, end - bytes)
      bytes = end
      // Leaving the loop closes the connection.
      if (over) break
    }
    return { status, headers: response.headers, body: kept.subarray(0, bytes) }
  } finally {
    memory?.give(takenBytes)
  }
}

function tooLong(): Error {
  return Object.assign(new Error('the response is too long'), { code: 'too_long' })
}
