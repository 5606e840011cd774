import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Problem, toProblem } from '../../lib/platform/http/problem.ts'
import { type AtOnce, ROUTES, routeFor } from '../../lib/platform/http/routes.ts'
import { notNow, SluiceError } from '../../lib/platform/kernel/errors.ts'
import {
  addressesHere,
  currentRequest,
  failSoon,
  noteRequest,
  type RequestContext,
  runRequest,
} from '../../lib/platform/kernel/request-context.ts'
import { within } from '../../lib/platform/kernel/waits.ts'
import type { Logger } from '../../lib/platform/log/log.ts'
import type { Runtime } from '../../lib/platform/runtime.ts'
import { createTurns, currentOwner, type Turns } from '../../lib/platform/turns.ts'
import { createHostFinder, type FoundHost } from '../../lib/upload-links/link-host.ts'
import { createFixedResponses, type FixedResponses } from './fixed-responses.ts'
import { type AccessLog, countBody, observeRequest, openAccessLog, traceRequest } from './observe-request.ts'
import { answerProbe } from './probes.ts'
import {
  allowedHosts,
  hostOnPortOf,
  inTurn,
  isOfLinkHosts,
  isRefused,
  isUploadPath,
  limitBody,
  refuseCrossSite,
  refuseUnreadableForm,
  setBodyDeadline,
  slowRest,
  toOriginForm,
  whileLocked,
} from './request-guards.ts'
import { keepAddressSecret, secureSubdomains, setPolicy, setSecurityHeaders } from './security-headers.ts'
import { forwarded, nameRequest, type ProxyTrust } from './trusted-proxies.ts'

export type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>
export type Handlers = {
  uploads?: Handler | undefined
  api?: Handler | undefined
  pages?: Handler | undefined
  /** Set if another process handles everything except uploads. */
  relay?: Handler | undefined
}

/**
 * The parts of the process that exist once it has started. Until then, it only responds to probes, and all other
 * requests wait.
 */
export type Opened = {
  runtime: Runtime
  handlers: Handlers
  dev: boolean
  hosts: ReadonlySet<string>
  /** Finds the workspace whose own host has this name. */
  findLinkHost(name: string): Promise<FoundHost | undefined>
  access: AccessLog
  turns: ReadonlyMap<AtOnce, Turns>
  fixed: FixedResponses
  readMetrics(): Promise<string>
}

export function openDoor(
  runtime: Runtime,
  handlers: Handlers,
  {
    dev = false,
    readMetrics = () => runtime.metrics.registry.metrics(),
    findLinkHost = createHostFinder(runtime),
  } = {},
): Opened {
  const { baseUrl, uploadUrl } = runtime.config
  const hosts = allowedHosts([baseUrl, uploadUrl])
  const limits = ROUTES.flatMap(({ atOnce }) => atOnce ?? [])
  const turns = new Map(limits.map((atOnce) => [atOnce, createTurns({ ...atOnce, ...WAITING })]))
  const [access, fixed] = [openAccessLog(runtime), createFixedResponses()]
  return { runtime, handlers, dev, hosts, findLinkHost, access, turns, fixed, readMetrics }
}

/**
 * The entry point of every request. It adds an id, the security headers and a log line, and passes the request to the
 * probes, the upload endpoint or Next, whose route handlers serve the API. Uploads bypass Next, which must not touch
 * their bodies. Requests for new tokens and webhooks to an inbox also bypass Next: each page view on a customer's site or
 * each file may cause one, and Next costs more than the work itself (decision 31).
 */
export function frontDoor(
  opening: Promise<Opened>,
  { log, trusts }: { log: Logger; trusts: ProxyTrust },
): (req: IncomingMessage, res: ServerResponse) => void {
  let opened: Opened | undefined
  void opening.then((now) => {
    opened = now
  })
  return (req, res) => {
    if (isRefused(req)) return
    const [startedAt, received] = [performance.now(), countBody(req)]
    const context: RequestContext = { ...nameRequest(req, trusts), notes: {} }
    req.headers['x-request-id'] = context.id
    res.setHeader('X-Request-Id', context.id)
    setSecurityHeaders(res, opened?.runtime.config.baseUrl.startsWith('https:') ?? false)
    const clearBodyDeadline = setBodyDeadline(req, BODY_DEADLINE_MS)
    const enter = async () => {
      assertOneHost(req)
      toOriginForm(req)
      if (!isUploadPath(req.url ?? '/')) {
        slowRest(req, res)
        await inTurn(req, res)
      }
      if (isRefused(req)) return
      if (await answerProbe(req, res, opened)) return
      const now = opened ?? (await soon(opening, req))
      context.client = trustOnlyProxies(req, trusts)
      if (now.handlers.relay && !isUploadPath(req.url ?? '/')) return now.handlers.relay(req, res)
      traceRequest(req, res, context)
      observeRequest(req, res, now.runtime, { startedAt, received, context }, now.access)
      await route(req, res, now, { clearBodyDeadline, respond })
    }
    const respond = (error: unknown) => {
      const problem = toProblem(error, opened?.runtime.config.baseUrl)
      noteRequest({ code: problem.code })
      if (problem.isFault) log.error({ err: error }, 'request failed')
      refuse(res, problem)
    }
    runRequest(context, () => enter().catch(respond))
  }
}

const PATIENCE_MS = 9000

/**
 * Clients of a dead node reconnect immediately. Their requests wait, because common clients discard the upload if
 * HEAD fails with anything but 423.
 */
async function soon(opening: Promise<Opened>, req: IncomingMessage): Promise<Opened> {
  const opened = await within(PATIENCE_MS, opening)
  if (opened !== 'late') return opened
  const detail = 'Sluice is starting. Try again in a moment.'
  throw whileLocked(req, detail, notNow(detail))
}

/** The deadline for the bodies of all requests except uploads, including probes and refused requests. */
const BODY_DEADLINE_MS = 30_000
/** All methods that this server supports, for the response to `OPTIONS *` (RFC 9110, 9.3.7). */
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

async function route(
  req: IncomingMessage,
  res: ServerResponse,
  opened: Opened,
  { clearBodyDeadline, respond }: { clearBodyDeadline(): void; respond(error: unknown): void },
): Promise<void> {
  const { runtime, handlers, dev } = opened
  await enterHost(req, res, opened)
  const url = req.url ?? '/'
  if (url === '*') return void res.writeHead(200, { Allow: METHODS, 'Content-Length': 0 }).end()
  const toUploads = isUploadPath(url)
  const handler = toUploads ? handlers.uploads : bypassesNext(req) ? handlers.api : handlers.pages
  if (!handler)
    throw new SluiceError('not_found', `This node does not serve ${toUploads ? 'uploads' : 'pages'}.`)
  if (toUploads) {
    continueWhenRead(req, res, toUploads)
    clearBodyDeadline()
    return handler(req, res)
  }
  failSoon(untilClientLeaves(req, res))
  assertDecodable(url)
  refuseCrossSite(req, runtime.config.baseUrl)
  const { bodyBytes, atOnce, isFixed } = routeFor(url)
  setPolicy(req, res, addressesHere(runtime.config), dev)
  const isLink = url.startsWith('/u/')
  if (isLink) keepAddressSecret(res)
  // The layout of all pages, which only sees the headers, then knows whether the page is in the visitor's language.
  req.headers['x-translated'] = String(isLink)
  refuseUnreadableForm(req, res)
  const handle = async () => {
    if (res.destroyed) return
    limitBody(req, bodyBytes, (error) => {
      respond(error)
      ignoreHandler(res)
    })
    continueWhenRead(req, res, toUploads)
    await handler(req, res)
  }
  const run = async () => {
    const end = atOnce && (await opened.turns.get(atOnce)!.take(currentOwner()))
    const handled = handle()
    if (end) void endTurn(end, within(TURN_MS, handled), res)
    return handled
  }
  await (isFixed && !dev ? opened.fixed(req, res, run) : run())
}

/** How many requests may wait for their turn, in all and from one client. */
const WAITING = { waiting: 2000, waitingForEach: 200 }
/** A request that takes longer is a long download, or waits for something other than the CPU, and no longer counts. */
const TURN_MS = 10_000

/** A client that is refused over and over, such as one that guesses tokens, takes its next turns this much later. */
const REFUSED_MS = 100
/** Others, such as 404 and 409, are what an honest client may get as often as a success. */
const REFUSALS = new Set([401, 403, 413, 429])

async function endTurn(end: () => void, handled: Promise<unknown>, res: ServerResponse): Promise<void> {
  const isRefusal = await handled.then(
    () => REFUSALS.has(res.statusCode),
    () => true,
  )
  if (isRefusal) setTimeout(end, REFUSED_MS).unref()
  else end()
}

/** The response has been sent, so the handler, which does not know that, cannot send another. */
function ignoreHandler(res: ServerResponse): void {
  const ignore = () => res
  Object.assign(res, { setHeader: ignore, writeHead: ignore, write: () => true, end: ignore })
}

/** What only reads need not be finished for a client that has left. */
function untilClientLeaves({ method }: IncomingMessage, res: ServerResponse): AbortSignal | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined
  const leaving = new AbortController()
  res.once('close', () => res.writableFinished || leaving.abort(notNow('The client has left.')))
  return leaving.signal
}

/**
 * Sends 100 Continue only once the body is read, so that a refused client does not send its bytes (RFC 9110, 10.1.1).
 */
function continueWhenRead(req: IncomingMessage, res: ServerResponse, toUploads: boolean): void {
  if (req.headers.expect === undefined) return
  const carryOn = () => {
    if (!res.headersSent) res.writeContinue()
  }
  if (toUploads) req.once('resume', carryOn)
  else carryOn()
}

/** Next responds to any other method with 400 or 500 and no body. */
const METHODS_OF_NEXT = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Requests to which the API responds without Next: those for new tokens, webhooks to an inbox, and those with a method
 * that Next passes to no route handler.
 */
function bypassesNext({ method = '', url = '/' }: IncomingMessage): boolean {
  if (method === 'POST') return url === '/api/v1/tokens' || url.startsWith('/api/inbox/')
  return !METHODS_OF_NEXT.has(method) && url.startsWith('/api/v1/')
}

/** Next responds with 500 to an address that cannot be decoded. */
function assertDecodable(url: string): void {
  try {
    decodeURIComponent(url.split('?', 1)[0]!)
  } catch (cause) {
    throw new SluiceError('invalid_request', 'The address has a % that does not encode a UTF-8 character.', {
      cause,
    })
  }
}

/**
 * Ignores X-Forwarded-* headers that no trusted proxy sent, and overwrites them, so that no later code relies on forged
 * values.
 */
function trustOnlyProxies(req: IncomingMessage, trusts: ProxyTrust): string {
  const { host, proto, address } = forwarded(req, trusts)
  for (const name of ['x-forwarded-host', 'x-forwarded-port', 'forwarded']) delete req.headers[name]
  req.headers.host = host
  req.headers['x-forwarded-proto'] = proto
  req.headers['x-forwarded-for'] = address
  return address
}

/**
 * RFC 9112, 3.2: "MUST respond with a 400 … to any request message that contains more than one Host header field
 * line".
 */
function assertOneHost({ rawHeaders }: IncomingMessage): void {
  const lines = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  if (lines.length > 1) throw new SluiceError('invalid_header', 'The request has more than one Host header.')
}

/** Notes whose host it is if it is a workspace's own, which serves only what belongs to that workspace's links. */
async function enterHost(req: IncomingMessage, res: ServerResponse, opened: Opened): Promise<void> {
  const { host = '' } = req.headers
  const { baseUrl } = opened.runtime.config
  if (opened.hosts.has(host)) {
    if (baseUrl.startsWith('https:')) secureSubdomains(res)
    return
  }
  const name = hostOnPortOf(baseUrl, host)
  const linkHost =
    name &&
    (await opened.findLinkHost(name).catch((error: unknown) => {
      throw whileLocked(req, 'The host cannot be looked up right now. Try again.', error)
    }))
  if (!linkHost)
    throw new SluiceError(
      'misdirected_host',
      "The request's Host is neither the host of BASE_URL or UPLOAD_URL nor a workspace's own.",
    )
  currentRequest()!.linkHost = linkHost
  if (!isUploadPath(req.url ?? '/') && !isOfLinkHosts(req)) throw new SluiceError('not_found')
}

function refuse(res: ServerResponse, { status, headers, body }: Problem): void {
  if (res.headersSent) res.destroy()
  else res.writeHead(status, headers).end(body)
}
