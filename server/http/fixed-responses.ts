import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { SESSION_COOKIES } from '../../lib/identity/sessions/session-cookie.ts'
import { SluiceError } from '../../lib/platform/kernel/errors.ts'
import { createTurns, currentOwner } from '../../lib/platform/turns.ts'

type Kept = { headers: OutgoingHttpHeaders; body: Buffer }
export type FixedResponses = (
  req: IncomingMessage,
  res: ServerResponse,
  render: () => Promise<void>,
) => Promise<void>

/** A client that requests kept responses as fast as it can takes a fraction of the CPU, and leaves the rest to others. */
const REST_MS = 2

/**
 * Keeps the responses that are the same for everyone, except for the theme and whether the header says “Sign in”. Only
 * successful responses are kept, so there are no more than there are pages. The nonce of a kept page repeats, which does
 * no harm in a page that contains nothing from a request.
 */
export function createFixedResponses(): FixedResponses {
  const kept = new Map<string, Promise<Kept | undefined>>()
  const turns = createTurns({ most: 2, waiting: 2000, waitingForEach: 200 })
  const send = async (res: ServerResponse, { headers, body }: Kept) => {
    const end = await turns.take(currentOwner())
    setTimeout(end, REST_MS)
    if (!res.destroyed) res.writeHead(200, headers).end(body)
  }
  return async (req, res, render) => {
    // The API responds to other methods itself; Next would render a page for any of them.
    const isPage = !req.url!.startsWith('/api/')
    const isHead = isPage && req.method === 'HEAD'
    if (isPage && !isHead && req.method !== 'GET')
      throw new SluiceError('method_not_allowed', 'Use GET or HEAD.', { headers: { Allow: 'GET, HEAD' } })
    if (!isPage && req.method !== 'GET') return render()
    const same = whatMatters(req)
    const key = JSON.stringify(same)
    const found = await kept.get(key)
    if (found) return send(res, found)
    if (isHead) return render()
    const { path, ...headers } = same
    req.url = headers.rsc ? `${path}?_rsc=` : path
    req.headers = { ...onlyOwn(req), ...headers }
    const recorded = record(res)
    kept.set(key, recorded)
    void recorded.then((response) => response ?? kept.delete(key))
    await render()
  }
}

/** All that may make a difference. */
function whatMatters({ url = '', headers }: IncomingMessage) {
  const given = (headers.cookie ?? '').split(/; */)
  const isSession = (cookie: string) => SESSION_COOKIES.some((name) => cookie.startsWith(`${name}=`))
  const theme = given.find((cookie) => /^theme=(?:dark|light)$/.test(cookie))
  const cookies = [theme, given.some(isSession) && `${SESSION_COOKIES[0]}=any`]
  return {
    path: url.split('?', 1)[0]!,
    // Scripts that open a page request its data relative to the page that they come from. They get all of its data.
    ...(headers.rsc && { rsc: '1' }),
    cookie: cookies.filter(Boolean).join('; '),
    'accept-encoding': /\bgzip\b/.test(String(headers['accept-encoding'])) ? 'gzip' : 'identity',
  }
}

const OWN = ['host', 'x-forwarded-proto', 'x-forwarded-for', 'x-request-id', 'content-security-policy']

/** The headers that this server has set. */
function onlyOwn({ headers }: IncomingMessage): IncomingMessage['headers'] {
  return Object.fromEntries(OWN.map((name) => [name, headers[name]]))
}

/** The response, once it has been sent; undefined if it is not a success, or if the client has left before its end. */
function record(res: ServerResponse): Promise<Kept | undefined> {
  const chunks: Buffer[] = []
  for (const name of ['write', 'end'] as const) {
    const send = res[name].bind(res) as (...args: unknown[]) => never
    res[name] = (chunk?: unknown, ...rest: unknown[]) => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string))
      return send(chunk, ...rest)
    }
  }
  return new Promise((resolve) => {
    res.once('close', () => {
      const { 'x-request-id': _, 'transfer-encoding': __, ...headers } = res.getHeaders()
      const isWhole = res.statusCode === 200 && res.writableFinished
      const body = Buffer.concat(chunks)
      resolve(isWhole ? { headers: { ...headers, 'content-length': body.length }, body } : undefined)
    })
  })
}
