import { once } from 'node:events'
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { SluiceError } from '../../lib/platform/kernel/errors.ts'
import { currentRequest } from '../../lib/platform/kernel/request-context.ts'
import type { Handler } from './front-door.ts'
import type { ProxyTrust } from './trusted-proxies.ts'

/**
 * Relays a request to the process listening on a local socket, and returns its response. The front door has already
 * identified the client and passes the client's identity on in the headers. The other process trusts these headers,
 * and checks everything else.
 */
export function relayTo(socketPath: string): Handler {
  // There are as many connections as requests in progress.
  const agent = new Agent({ keepAlive: true })
  return async (req, res) => {
    const { method = 'GET', url: path = '/' } = req
    const options = { socketPath, agent, method, path, headers: onwardHeaders(req), setHost: false }
    const onward = await connected(() => request(options), res)
    // The client may have left in the meantime.
    if (res.destroyed) return void onward.destroy()
    // Sends the headers now, so that an error that Node throws because of them is caught.
    onward.flushHeaders()
    if (req.headers.expect !== undefined) res.writeContinue()
    const responded = once(onward, 'response') as Promise<[IncomingMessage]>
    res.once('close', () => onward.destroy())
    // If the response comes early, the rest of the request's body is still read, as it would be without a relay.
    onward.once('close', () => req.resume())
    req.pipe(onward)
    const [response] = await responded.catch((error: unknown) => giveUp(res, error))
    if (response) await handBack(response, res)
  }
}

/** Trusts connections without an address: they come from a socket in a folder that nobody else can enter. */
export const trustsRelay: ProxyTrust = (address) => address === ''

const RETRY_EVERY_MS = 50
/** How long requests wait for a starting process. */
const PATIENCE_MS = 9000
const NOBODY_LISTENS = new Set(['ENOENT', 'ECONNREFUSED'])

/**
 * The process behind the socket may still be starting. Nothing is sent before the connection is established, so
 * connecting can safely be retried.
 */
async function connected(open: () => ClientRequest, res: ServerResponse): Promise<ClientRequest> {
  for (let waitedMs = 0; ; waitedMs += RETRY_EVERY_MS) {
    const onward = open()
    onward.on('error', () => {})
    try {
      const [socket] = (await once(onward, 'socket')) as [Socket]
      if (socket.connecting) await once(socket, 'connect')
      return onward
    } catch (error) {
      onward.destroy()
      const mayCome = NOBODY_LISTENS.has((error as NodeJS.ErrnoException).code ?? '')
      if (!mayCome || waitedMs >= PATIENCE_MS || res.destroyed) throw unavailable(error)
      await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY_MS))
    }
  }
}

/** If the client itself has left, there is nobody to respond to. */
function giveUp(res: ServerResponse, error: unknown): [] {
  if (!res.destroyed) throw unavailable(error)
  return []
}

async function handBack(response: IncomingMessage, res: ServerResponse): Promise<void> {
  for (const name of res.getHeaderNames()) res.removeHeader(name)
  res.writeHead(response.statusCode!, response.statusMessage, endToEnd(response.rawHeaders))
  // Sends the headers immediately, because an event stream may send nothing at first.
  res.flushHeaders()
  await pipeline(response, res).catch(() => void res.destroy())
}

/** RFC 9110, 7.6.1: these headers belong to a single connection. This process has already responded to Expect. */
const OF_ONE_CONNECTION = new Set(
  'connection keep-alive proxy-connection te trailer upgrade expect'.split(' '),
)

function onwardHeaders(req: IncomingMessage): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...req.headers, traceparent: currentRequest()?.traceparent }
  for (const [name, value] of Object.entries(headers))
    if (OF_ONE_CONNECTION.has(name) || value === undefined) delete headers[name]
  const hasBody = 'transfer-encoding' in headers || 'content-length' in headers
  return hasBody || req.method === 'GET' || req.method === 'HEAD'
    ? headers
    : { ...headers, 'content-length': '0' }
}

/** The headers to pass on, in the original order and spelling, as a flat list of pairs. */
function endToEnd(rawHeaders: string[]): string[] {
  return rawHeaders.filter((_, at) => !ofThisHop(rawHeaders[at - (at % 2)]!))
}

const ofThisHop = (name: string) => /^(?:connection|keep-alive|transfer-encoding)$/i.test(name)

function unavailable(cause: unknown): SluiceError {
  return new SluiceError('unavailable', 'Pages and the API are starting. Try again in a moment.', {
    headers: { 'Retry-After': '1' },
    cause,
  })
}
