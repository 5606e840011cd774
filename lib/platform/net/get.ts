import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { GuardedAgents } from './guarded-agents.ts'
import { NetworkError, readFault } from './network-error.ts'
import { limitInformational } from './post.ts'

export type GetLimits = {
  /** From the start of a request until its response's status and headers arrive. */
  respondMs: number
  headerBytes: number
}

type GetRequest = {
  url: string
  /** Headers given by the customer. They are only sent to the origin of `url`. */
  headers: Record<string, string>
  /** Sluice's own headers, such as Range. */
  own: Record<string, string>
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const MAX_REDIRECTS = 5

/**
 * Sends a GET request and follows redirects, whose addresses are also checked when the connection is made. Returns the
 * response with its body unread; the caller must read or destroy it. Throws a `NetworkError` with the class of failure.
 */
export async function get(
  agents: GuardedAgents,
  { url, headers, own }: GetRequest,
  limits: GetLimits,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let at = new URL(url)
  let sent = headers
  for (let redirects = 0; ; redirects++) {
    const response = await respond(agents, at, { ...sent, ...own }, { limits, signal })
    const { location } = response.headers
    if (!REDIRECTS.has(response.statusCode!) || location === undefined) return response
    response.destroy()
    if (redirects === MAX_REDIRECTS)
      throw new NetworkError('blocked', `The URL redirects more than ${MAX_REDIRECTS} times.`)
    const next = redirectTo(at, location)
    // If another origin redirects back, the headers are still not sent, because that origin chose the address.
    if (next.origin !== at.origin) sent = {}
    at = next
  }
}

function redirectTo(from: URL, location: string): URL {
  const next = URL.parse(location, from)
  if (!next || !/^https?:$/.test(next.protocol))
    throw new NetworkError('blocked', 'The URL redirects to an address that is not http or https.')
  if (next.username || next.password)
    throw new NetworkError('blocked', 'The URL redirects to an address with a user name or a password.')
  return next
}

async function respond(
  agents: GuardedAgents,
  url: URL,
  headers: Record<string, string>,
  { limits, signal }: { limits: GetLimits; signal: AbortSignal },
): Promise<IncomingMessage> {
  const options = { headers, signal, maxHeaderSize: limits.headerBytes }
  const asked =
    url.protocol === 'https:'
      ? httpsRequest(url, { ...options, agent: agents.https })
      : httpRequest(url, { ...options, agent: agents.http })
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const timer = setTimeout(
    () =>
      asked.destroy(
        new NetworkError(
          'timeout',
          `The server did not respond within ${Math.ceil(limits.respondMs / 1000)} s.`,
        ),
      ),
    limits.respondMs,
  )
  asked.once('response', resolve).on('error', reject)
  // If the socket ended before it was assigned to the request, Node may emit no other event.
  asked.once('close', () =>
    reject(new NetworkError('connect', 'The connection was closed without a response.')),
  )
  limitInformational(asked)
  asked.end()
  try {
    return await promise
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw readFault(error, limits)
  } finally {
    clearTimeout(timer)
  }
}
