import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { GuardedAgents } from './guarded-agents.ts'
import { NetworkError, readFault } from './network-error.ts'

/** Limits that stop a hostile or broken receiver. */
export type PostLimits = {
  /** From the start until the connection can carry the request, including DNS and TLS. */
  connectMs: number
  /** From the start until the response's status and headers arrive. This is also the limit for the entire exchange. */
  totalMs: number
  /** From the headers until the stored part of the body has arrived. */
  bodyMs: number
  bodyBytes: number
  headerBytes: number
}

export type PostRequest = { url: string; headers: Record<string, string>; body: Uint8Array }

type PostResponse = {
  status: number
  headers: Record<string, string>
  /** The first `bodyBytes` of the response body. */
  body: string
  /** Why the body ends early, if it does. */
  cut?: string
}

const MAX_INFORMATIONAL = 8

/** Limits the number of informational responses (RFC 9110, 15.2), because a server could keep sending them. */
export function limitInformational(request: ClientRequest): void {
  let received = 0
  request.on('information', () => {
    if (++received <= MAX_INFORMATIONAL) return
    request.destroy(new NetworkError('status', 'The server keeps sending informational responses.'))
  })
}

/** Sends a POST request without following redirects. Throws a `NetworkError` with the class of failure. */
export async function post(
  agents: GuardedAgents,
  request: PostRequest,
  limits: PostLimits,
): Promise<PostResponse> {
  try {
    return await responseOf(open(agents, request, limits), request.body, limits)
  } catch (error) {
    throw readFault(error, limits)
  }
}

function open(agents: GuardedAgents, { url, headers }: PostRequest, limits: PostLimits): ClientRequest {
  const { protocol } = new URL(url)
  const options = { method: 'POST', headers, maxHeaderSize: limits.headerBytes }
  return protocol === 'https:'
    ? httpsRequest(url, { ...options, agent: agents.https })
    : httpRequest(url, { ...options, agent: agents.http })
}

function responseOf(attempt: ClientRequest, body: Uint8Array, limits: PostLimits): Promise<PostResponse> {
  const { connectMs, totalMs } = limits
  const cancel = (what: string) => attempt.destroy(new NetworkError('timeout', what))
  const connecting = setTimeout(
    cancel,
    connectMs,
    `Could not connect to the server within ${connectMs / 1000} s.`,
  )
  const responding = setTimeout(cancel, totalMs, `The server did not respond within ${totalMs / 1000} s.`)
  const until = performance.now() + totalMs
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    attempt.on('error', reject)
    // If the socket ended before it was assigned to the request, Node may emit no other event.
    attempt.once('close', () =>
      reject(new NetworkError('connect', 'The connection was closed without a response.')),
    )
    attempt.once('response', resolve)
    attempt.once('socket', (socket) => {
      const ready = () => clearTimeout(connecting)
      if (!socket.connecting) return ready()
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', ready)
    })
    limitInformational(attempt)
    attempt.end(body)
  })
  return responded
    .then((response) => readResponse(response, limits, until))
    .finally(() => {
      clearTimeout(connecting)
      clearTimeout(responding)
    })
}

/** Reads as much of a response as will be stored, and closes the connection if there is more. */
async function readResponse(
  response: IncomingMessage,
  { bodyMs, bodyBytes }: PostLimits,
  untilMs: number,
): Promise<PostResponse> {
  const chunks: Buffer[] = []
  let size = 0
  const patienceMs = Math.max(0, Math.min(bodyMs, untilMs - performance.now()))
  const cut = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(
      end,
      patienceMs,
      `The response body was not complete ${Math.ceil(patienceMs / 1000)} s after its headers; the rest was not read.`,
    )
    function end(why?: string) {
      clearTimeout(timer)
      if (why) response.destroy()
      resolve(why)
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > bodyBytes)
        end(`The response body is longer than ${bodyBytes / 1024} KiB; the rest was not read.`)
    })
    response.once('end', () => end())
    response.on('error', () => end('The connection was closed in the middle of the response body.'))
    response.once('close', () => end())
  })
  return {
    status: response.statusCode!,
    headers: storable(response.headers),
    body: withoutNul(Buffer.concat(chunks).subarray(0, bodyBytes).toString('utf8')),
    ...(cut && { cut }),
  }
}

function storable(headers: IncomingMessage['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    withoutNul([value].flat().join(', ')),
  ])
  return Object.fromEntries(entries)
}

/** PostgreSQL does not store NUL in text. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd')
}
