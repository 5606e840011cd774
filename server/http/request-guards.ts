import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { seconds } from '../../lib/platform/kernel/clock.ts'
import { SluiceError } from '../../lib/platform/kernel/errors.ts'

/**
 * The hosts for which requests are accepted. This prevents pages on other sites from reaching a server on a loopback
 * address through their own host name (DNS rebinding).
 */
export function allowedHosts(addresses: string[]): ReadonlySet<string> {
  const hosts = new Set<string>()
  for (const address of addresses) {
    const { hostname, port, protocol, host } = new URL(address)
    const explicit = port || (protocol === 'https:' ? '443' : '80')
    hosts.add(host).add(`${hostname}:${explicit}`)
    if (hostname === 'localhost') hosts.add(`127.0.0.1:${explicit}`).add(`[::1]:${explicit}`)
  }
  return hosts
}

/** The name in a Host header, in lower case, if its port is that of `baseUrl`. */
export function hostOnPortOf(baseUrl: string, host: string): string | undefined {
  const { protocol, port } = new URL(baseUrl)
  const usual = protocol === 'https:' ? '443' : '80'
  const [, name, given = usual] = host.toLowerCase().match(/^([a-z\d.-]+)(?::(\d+))?$/) ?? []
  return given === (port || usual) ? name : undefined
}

export const isUploadPath = (url: string) => url.startsWith('/pipes/')

/** What an offset request fails with in place of an error that passes. */
export function whileLocked(
  { method, url = '/', headers }: IncomingMessage,
  detail: string,
  cause: unknown,
): unknown {
  // Clients of Resumable Uploads for HTTP, which send its version in a header, only continue after a 5xx.
  const isLocked = method === 'HEAD' && isUploadPath(url) && !headers['upload-draft-interop-version']
  return isLocked
    ? new SluiceError('upload_locked', detail, { headers: { 'Retry-After': '1' }, cause })
    : cause
}

const PARTS_OF_LINKS =
  /^\/(?:u\/[^/]+|u\/logo\/[^/]+|_next\/static\/.+|favicon\.svg|apple-touch-icon\.png|share\.png)$/
const CALLS_OF_LINKS = /^\/api\/v1\/upload-links\/open(?:\/receipt)?$/

/**
 * Whether a workspace's own host serves this besides uploads: link pages, what they load, and the calls that they make.
 * No page accepts a POST there, since it could call any of Next's server actions.
 */
export function isOfLinkHosts({ method = '', url = '' }: IncomingMessage): boolean {
  const path = url.split('?', 1)[0]!
  // Next resolves dot segments, so the path could be another one for it.
  if (URL.parse(path, 'http://host')?.pathname !== path) return false
  return method === 'POST' ? CALLS_OF_LINKS.test(path) : isRead(method) && PARTS_OF_LINKS.test(path)
}

const isRead = (method: string) => method === 'GET' || method === 'HEAD'

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i

/**
 * Rewrites a request's target as a path (RFC 9112, 3.2). As specified there, the host of an absolute target replaces the Host
 * header; otherwise, one host would be checked and another one used. `*`, which is only valid for OPTIONS, is kept.
 */
export function toOriginForm(req: IncomingMessage): void {
  const target = req.url ?? ''
  if (target.startsWith('/') || (target === '*' && req.method === 'OPTIONS')) return
  const [, host, rest] = target.match(ABSOLUTE) ?? []
  if (host === undefined || rest === undefined)
    throw new SluiceError('invalid_request', 'The target of a request must be a path.')
  req.headers.host = host.toLowerCase()
  req.url = rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Requests that may call a server action must come from a page on this origin, because the browser sends the cookies
 * with them. Next also refuses requests from other sites, but with the same response as for requests that it cannot
 * read. A request without an Origin was not sent by a browser.
 */
export function refuseCrossSite({ method, headers }: IncomingMessage, baseUrl: string): void {
  const { origin, host } = headers
  const isForm = /^multipart\/form-data/i.test(headers['content-type'] ?? '')
  if (method !== 'POST' || !(isForm || headers['next-action'] !== undefined)) return
  // The scheme counts as well: anyone in between can change a page that was sent over plain HTTP.
  const own = new URL(`${new URL(baseUrl).protocol}//${host}`).origin
  if (origin === undefined || (URL.canParse(origin) && new URL(origin).origin === own)) return
  throw new SluiceError(
    'cross_site_request',
    'This form was sent from a page on another site, so nothing was done. Open the page on this site and send it from there.',
  )
}

/**
 * Next responds with 500 to a posted form or action arguments that it cannot read: truncated data, or made-up fields in
 * Next's own format. Sluice's own actions never cause a 500: they catch their errors, and an error that an action
 * returns to a script is sent in a response with status 200. So a 500 always means an invalid request.
 */
export function refuseUnreadableForm(req: IncomingMessage, res: ServerResponse): void {
  const type = req.headers['content-type'] ?? ''
  const isForm =
    req.method === 'POST' && /^multipart\/form-data|^application\/x-www-form-urlencoded/i.test(type)
  const isAction = req.method === 'POST' && req.headers['next-action'] !== undefined
  if (!isForm && !isAction) return
  const writeHead = res.writeHead.bind(res)
  res.writeHead = ((status: number, ...rest: []) =>
    writeHead(status === 500 ? 400 : status, ...rest)) as typeof res.writeHead
}

/**
 * Closes a request whose body has not arrived in time, whether or not a response was sent. The server's own limit is
 * off, because an upload may take days. All other bodies are small, and a slow one would occupy a connection forever.
 * Returns a function that cancels the deadline, for a handler that has its own.
 */
export function setBodyDeadline(req: IncomingMessage, deadlineMs: number): () => void {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, deadlineMs)
  const clear = () => clearTimeout(timer)
  for (const event of ['end', 'close'] as const) req.once(event, clear)
  return clear
}

const MOST_WAITING = 8
const unanswered = new WeakMap<Socket, Set<ServerResponse>>()
/** Connections with too many requests stay open without a response for this long, so that clients cannot reconnect at once. */
const REFUSED_MS = seconds(1)
const refused = new WeakSet<Socket>()

/** True if the connection is about to be closed, so that requests on it need no response. */
export const isRefused = ({ socket }: IncomingMessage): boolean => socket.destroyed || refused.has(socket)

/**
 * Waits until the responses to all earlier requests on the connection have been sent. Node handles pipelined requests
 * all at once, so one packet could start hundreds of them (RFC 9112, 9.3.2: a server may process them in parallel, and
 * may close the connection, upon which the client repeats those without a response).
 */
export async function inTurn({ socket }: IncomingMessage, res: ServerResponse): Promise<void> {
  const before = unanswered.get(socket) ?? new Set()
  const previous = [...before].at(-1)
  unanswered.set(socket, before.add(res))
  res.once('close', () => before.delete(res))
  if (before.size > MOST_WAITING) refuseConnection(socket)
  else if (previous) await once(previous, 'close')
}

function refuseConnection(socket: Socket): void {
  refused.add(socket)
  socket.pause()
  setTimeout(() => socket.destroy(), REFUSED_MS).unref()
}

/** About 64 KiB are read in between. */
const REST_PAUSE_MS = 25

/**
 * Reads the rest of a body slowly once the response has been sent, because a client that sends large bodies over and
 * over would otherwise take the time of all others. It is read at all because many clients only look for a response
 * after the last byte, and lose it if the connection is closed before that.
 */
export function slowRest(req: IncomingMessage, res: ServerResponse): void {
  res.once('prefinish', () => {
    if (req.complete || req.destroyed) return
    req.on('data', () => {
      req.pause()
      setTimeout(() => req.resume(), REST_PAUSE_MS).unref()
    })
    req.resume()
  })
}

/**
 * Refuses a body of more than `maxBytes`. If its length is only known once too much of it has arrived, the rest is
 * discarded and the handler's stream fails, but the connection stays open, or the client could lose the response.
 */
export function limitBody(
  req: IncomingMessage,
  maxBytes: number,
  refuse: (error: SluiceError) => void,
): void {
  const tooLarge = new SluiceError('body_too_large', `The body may have at most ${maxBytes} bytes.`)
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge
  const push = req.push.bind(req)
  let left = maxBytes - req.readableLength
  req.push = (chunk, encoding) => {
    left -= chunk?.length ?? 0
    if (left >= 0) return push(chunk, encoding)
    const { socket } = req
    socket.pause()
    setTimeout(() => socket.resume(), REST_PAUSE_MS).unref()
    if (req.destroyed) return true
    req.once('error', () => {})
    req._destroy = (error, done) => done(error)
    req.destroy(tooLarge)
    refuse(tooLarge)
    return true
  }
}
