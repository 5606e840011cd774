import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { GuardedAgents } from './guarded-agents.ts'
import { NetworkError, readFault } from './network-error.ts'

/** Every one of them cuts a hostile or broken receiver short. */
export type PostLimits = {
  /** From the start until the connection can carry the request, name look-up and TLS included. */
  connectMs: number
  /** From the start until the response's status and headers are there, and the most for all of it. */
  totalMs: number
  /** After the headers, for what is kept of the body. */
  bodyMs: number
  bodyBytes: number
  headerBytes: number
}

export type PostRequest = { url: string; headers: Record<string, string>; body: Uint8Array }

type PostResponse = {
  status: number
  headers: Record<string, string>
  /** The first `bodyBytes` of it. */
  body: string
  /** Why the body ends before its end, if it does. */
  cut?: string
}

/** Informational responses (RFC 9110, 15.2) that are sat through; a receiver could send them for ever. */
const MAX_INFORMATIONAL = 8
/** One POST, never a redirect. Throws a `NetworkError` that says in which class it failed. */
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
  const connecting = setTimeout(cancel, connectMs, `It did not connect within ${connectMs / 1000} s.`)
  const responding = setTimeout(cancel, totalMs, `It did not respond within ${totalMs / 1000} s.`)
  const until = performance.now() + totalMs
  let informational = 0

  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    attempt.on('error', reject)
    // Node may report the end of a socket before a request was given one in no other way.
    attempt.once('close', () =>
      reject(new NetworkError('connect', 'The connection was closed without a response.')),
    )
    attempt.once('response', resolve)
    attempt.once('socket', (socket) => {
      const ready = () => clearTimeout(connecting)
      if (!socket.connecting) return ready()
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', ready)
    })
    attempt.on('information', () => {
      if (++informational <= MAX_INFORMATIONAL) return
      attempt.destroy(new NetworkError('status', 'It keeps sending informational responses.'))
    })
    attempt.end(body)
  })
  return responded
    .then((response) => readResponse(response, limits, until))
    .finally(() => {
      clearTimeout(connecting)
      clearTimeout(responding)
    })
}

/** Takes what is to be kept of a response, and lets go of the connection if there is more. */
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
      `Its body was not complete ${Math.ceil(patienceMs / 1000)} s after its headers; the rest was not read.`,
    )
    function end(why?: string) {
      clearTimeout(timer)
      if (why) response.destroy()
      resolve(why)
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > bodyBytes) end(`Its body is longer than ${bodyBytes / 1024} KiB; the rest was not read.`)
    })
    response.once('end', () => end())
    response.on('error', () => end('The connection was closed in the middle of its body.'))
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

/** PostgreSQL keeps no NUL in a text. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd')
}
