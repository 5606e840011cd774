import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isSluiceError } from '../kernel/errors.ts'
import type { GuardedAgents } from './guarded-agents.ts'

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
/** One POST, never a redirect. Throws a `PostError` that says in which class it failed. */
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
  const cancel = (what: string) => attempt.destroy(new PostError('timeout', what))
  const connecting = setTimeout(cancel, connectMs, `It did not connect within ${connectMs / 1000} s.`)
  const responding = setTimeout(cancel, totalMs, `It did not answer within ${totalMs / 1000} s.`)
  const until = performance.now() + totalMs
  let informational = 0

  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    attempt.on('error', reject)
    // Node may report the end of a socket before a request was given one in no other way.
    attempt.once('close', () =>
      reject(new PostError('connect', 'The connection was closed without a response.')),
    )
    attempt.once('response', resolve)
    attempt.once('socket', (socket) => {
      const ready = () => clearTimeout(connecting)
      if (!socket.connecting) return ready()
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', ready)
    })
    attempt.on('information', () => {
      if (++informational <= MAX_INFORMATIONAL) return
      attempt.destroy(new PostError('status', 'It sends informational responses without end.'))
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

type PostFault = 'dns' | 'connect' | 'tls' | 'timeout' | 'blocked' | 'status'

/** Why there is no response, in the classes and words of the delivery log. */
export class PostError extends Error {
  override readonly name = 'PostError'
  readonly fault: PostFault

  constructor(fault: PostFault, message: string, cause?: unknown) {
    super(message, { cause })
    this.fault = fault
  }
}

const CLOSED = 'The connection was closed without a response.'
const NETWORK: Record<string, string> = {
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ECONNABORTED: CLOSED,
  ECONNREFUSED: 'The connection was refused.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The network cannot be reached.',
}
/** What `getaddrinfo` and the name servers answer. */
const DNS = /^(ENOTFOUND|EAI_.+|ENODATA|ESERVFAIL|EREFUSED|EBADRESP|EFORMERR|ENONAME|EBADNAME|ENOTIMP)$/

export function readFault(error: unknown, limits: PostLimits): PostError {
  if (error instanceof PostError) return error
  if (isSluiceError(error)) return new PostError('blocked', error.message, error)
  const { code = '', syscall, message } = error as NodeJS.ErrnoException
  const because = (fault: PostFault, words: string) => new PostError(fault, words, error)
  if (DNS.test(code)) return because('dns', `The host name does not resolve (${code}).`)
  // A name server that does not answer says ETIMEOUT; a host that does not says ETIMEDOUT.
  if (code === 'ETIMEOUT' || syscall?.startsWith('query'))
    return because('dns', `The name servers do not answer (${code}).`)
  if (code === 'ETIMEDOUT') return because('timeout', 'The host does not answer.')
  if (code === 'HPE_HEADER_OVERFLOW') {
    return because('status', `Its headers are larger than ${limits.headerBytes / 1024} KiB.`)
  }
  if (code.startsWith('HPE_')) return because('status', `Its response is not HTTP (${code}).`)
  if (isTls(code)) return because('tls', `${tlsWords(code, message)}`)
  return because('connect', NETWORK[code] ?? `The connection failed (${code || 'unknown'}).`)
}

function isTls(code: string): boolean {
  return /^(ERR_SSL|ERR_TLS|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|ERROR_IN_CERT|HOSTNAME_MISMATCH|INVALID_CA|OUT_OF_MEM|PATH_LENGTH)/.test(
    code,
  )
}

function tlsWords(code: string, message: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'Its certificate is for another host name.'
  if (code === 'CERT_HAS_EXPIRED') return 'Its certificate has expired.'
  if (/SELF_SIGNED/.test(code)) return 'Its certificate is self-signed.'
  if (/^UNABLE_TO_/.test(code))
    return 'Its certificate cannot be verified: an intermediate certificate is missing, or its issuer is unknown.'
  return `TLS failed: ${message.replace(/^.*?:error:/, '').slice(0, 200)}`
}
