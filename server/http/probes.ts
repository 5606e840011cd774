import type { IncomingMessage, ServerResponse } from 'node:http'
import { migrationsApplied } from '../../lib/platform/db/migrate.ts'
import { bearerToken } from '../../lib/platform/http/read-request.ts'
import { secretsEqual } from '../../lib/platform/kernel/ids.ts'
import { failSoon } from '../../lib/platform/kernel/request-context.ts'
import { within } from '../../lib/platform/kernel/waits.ts'
import type { Runtime } from '../../lib/platform/runtime.ts'
import type { Opened } from './front-door.ts'

const PROBE_TIMEOUT_MS = 3000

/**
 * Responds to `/healthz`, `/readyz` and `/metrics`. Any Host is accepted, because machines send these requests. Returns
 * false for any other request, and for probes that are relayed to another process.
 */
export async function answerProbe(
  req: IncomingMessage,
  res: ServerResponse,
  opened?: Opened,
): Promise<boolean> {
  const [path, query] = (req.url ?? '').split('?', 2)
  const domain = new URLSearchParams(query).get('domain')
  if (path === '/healthz') say(res, 200, 'alive\n')
  else if (path === '/readyz' && query === 'for=upload') answerReadyForUploads(res, opened?.runtime)
  else if (path === '/readyz' && domain) await answerForDomain(res, domain, opened)
  else if (path === '/readyz' && !opened?.handlers.relay) await answerReady(res, opened?.runtime)
  else if (path === '/metrics') await answerMetrics(req, res, opened)
  else return false
  return true
}

/**
 * Does not query the database. While the database is down, an upload node asks clients to wait. A balancer that took
 * the node out of rotation could only reject those clients.
 */
function answerReadyForUploads(res: ServerResponse, runtime: Runtime | undefined): void {
  if (!runtime) say(res, 503, 'starting\n')
  else if (!runtime.config.roles.has('upload')) say(res, 503, 'this node does not serve uploads\n')
  else say(res, 200, 'ready for uploads\n')
}

/** Fails for as long as pages would: a page that reloads as soon as the server is ready must not fail again. */
async function answerReady(res: ServerResponse, runtime: Runtime | undefined): Promise<void> {
  if (!runtime) return say(res, 503, 'starting\n')
  failSoon()
  const ready = await within(
    PROBE_TIMEOUT_MS,
    migrationsApplied(runtime.db).catch(() => false),
  )
  if (ready === true) say(res, 200, 'ready\n')
  else say(res, 503, 'the database is not responding, or is missing a migration\n')
}

/** Tells a balancer whether to get a certificate for a host; Caddy asks in this way. */
async function answerForDomain(
  res: ServerResponse,
  domain: string,
  opened: Opened | undefined,
): Promise<void> {
  if (!opened) return say(res, 503, 'starting\n')
  failSoon()
  const found = await opened.findLinkHost(domain.toLowerCase()).catch(() => 'away' as const)
  if (found === 'away') say(res, 503, 'the database is not responding\n')
  else if (found) say(res, 200, 'a host of a workspace\n')
  else say(res, 404, 'no verified host of a workspace\n')
}

async function answerMetrics(
  req: IncomingMessage,
  res: ServerResponse,
  opened: Opened | undefined,
): Promise<void> {
  const wanted = opened?.runtime.config.metricsToken
  if (!opened || !wanted) return say(res, 404, 'METRICS_TOKEN is not set\n')
  const given = bearerToken(req.headers.authorization)
  if (!given || !secretsEqual(given, wanted)) {
    res.setHeader('WWW-Authenticate', 'Bearer')
    return say(res, 401, 'send METRICS_TOKEN as a Bearer token\n')
  }
  const text = await opened.readMetrics()
  res.setHeader('Content-Type', opened.runtime.metrics.registry.contentType)
  res.end(text)
}

function say(res: ServerResponse, status: number, text: string): void {
  res
    .writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' })
    .end(text)
}
