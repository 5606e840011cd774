import type { IncomingMessage, ServerResponse } from 'node:http'
import { SluiceError } from '../../lib/platform/kernel/errors.ts'

/**
 * A request must be for a host that is ours: it keeps a page of another origin from reaching a loopback
 * server through a name of its own (DNS rebinding).
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

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i

/**
 * The target of a request as a path (RFC 9112, 3.2). Of an absolute one the host counts instead of the Host header, as
 * there: what follows would check the one and go by the other. `*` is left, which only OPTIONS may have.
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
 * What may call a server action must come from a page of the same host: the browser sends the cookies along with it.
 * Next refuses others too, but with the same response as for what it cannot read. Without an Origin it was no browser.
 */
export function refuseCrossSite({ method, headers }: IncomingMessage): void {
  const { origin, host } = headers
  const isForm = /^multipart\/form-data/i.test(headers['content-type'] ?? '')
  if (method !== 'POST' || !(isForm || headers['next-action'] !== undefined)) return
  if (origin === undefined || hostOf(origin) === host) return
  throw new SluiceError(
    'cross_site_request',
    'This form was sent by a page of another site, so nothing was done. Open the page on this site and send it from there.',
  )
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

/**
 * Next answers 500 to a posted form or the arguments of an action that it cannot read: cut short, or with fields of its own
 * made up. What our actions throw they catch themselves, and what one throws to a script is within a 200, so this is all
 * that is left: the request was wrong.
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
 * Ends a request whose body has not arrived in time, whether it was answered or not. The server's own limit is off, since
 * an upload may take days; all other bodies are small, and one that drips would hold a connection forever. Returns a
 * function that cancels the deadline, for a handler that has its own.
 */
export function setBodyDeadline(req: IncomingMessage, deadlineMs: number): () => void {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, deadlineMs)
  const clear = () => clearTimeout(timer)
  for (const event of ['end', 'close'] as const) req.once(event, clear)
  return clear
}
