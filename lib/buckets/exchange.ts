import { type Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectAnswer, type ResponseMemory } from './collect-answer.ts'

export type Outgoing = {
  url: URL
  agent: Agent
  method: string
  /** With the encoded query. */
  path: string
  headers: Record<string, string>
  body: readonly Uint8Array[]
  /** How many bytes of an object are asked for; every other response is short. */
  wantedBytes?: number | undefined
  /** Ends the request after this long without a byte in either direction. */
  silenceMs: number
  /** Ends the request after this long in all, response included: bytes that come one by one are not silence. */
  deadlineMs: number
  memory?: ResponseMemory | undefined
  signal?: AbortSignal | undefined
}

export type Answer = {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

/** Sends one HTTP request, whose body is in memory, and returns the response. Neither retries nor judges. */
export function exchange(outgoing: Outgoing): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = open(outgoing)
  let answered = false
  let late: Error | undefined
  const end = (error: Error) => {
    late = error
    request.destroy(error)
  }
  const { silenceMs, deadlineMs } = outgoing
  request.setTimeout(silenceMs, () => end(timeout(`silent for ${silenceMs} ms`)))
  const timer = setTimeout(() => end(timeout(`not done after ${deadlineMs} ms`)), deadlineMs)
  // A response counts, whatever becomes of a body that the bucket did not want.
  request.on('error', (error) => answered || reject(late ?? error))
  const read = async (response: IncomingMessage) => {
    const answer = await collectAnswer(response, outgoing)
    answered = true
    await settle(request)
    return answer
  }
  request.once('response', (response) => read(response).then(resolve, (error) => reject(late ?? error)))
  send(request, outgoing)
  return promise.finally(() => clearTimeout(timer))
}

function open({ url, agent, method, path, headers, signal }: Outgoing): ClientRequest {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const { hostname, port } = url
  const host = hostname.replace(/^\[|\]$/g, '')
  return request({ host, port, agent, method, path, headers, signal })
}

function send(request: ClientRequest, { url, body }: Outgoing): void {
  if (url.protocol === 'https:' && body.length > 1) sendInTurn(request, body)
  else sendAtOnce(request, body)
}

/** Chunks go out as they are, in one writev: nothing is copied. */
function sendAtOnce(request: ClientRequest, body: readonly Uint8Array[]): void {
  request.cork()
  for (const chunk of body) request.write(chunk)
  request.end()
  request.uncork()
}

/**
 * For TLS, Node would copy the list into one buffer, and keep all of its ciphertext until that is written: both are as large
 * as the body. A single chunk is encrypted from where it is.
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
 * The response may come one turn of the event loop before the notice that the last of the body was taken. Bytes not taken
 * by then must not be sent any more: their memory is about to be reused.
 */
async function settle(request: ClientRequest): Promise<void> {
  if (!request.writableFinished) await nextTurn()
  if (!request.writableFinished) request.destroy()
}

function timeout(what: string): Error {
  return Object.assign(new Error(what), { code: 'timeout' })
}
