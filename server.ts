import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApiHandler } from './lib/api/create-api-handler.ts'
import type { DemoBucket } from './lib/dashboard/demo/demo-document.ts'
import { ensureDemo } from './lib/dashboard/demo/ensure-demo.ts'
import { openDemoBucket } from './lib/dashboard/demo/open-demo-bucket.ts'
import { startMailWorker } from './lib/identity/accounts/start-mail-worker.ts'
import { migrate } from './lib/platform/db/migrate.ts'
import { openDatabase } from './lib/platform/db/open-database.ts'
import { createOutages, type Outages } from './lib/platform/db/outages.ts'
import { untilReached } from './lib/platform/db/until-reached.ts'
import {
  frontDoor,
  type Handler,
  type Handlers,
  type Opened,
  openDoor,
} from './lib/platform/http/front-door.ts'
import { SERVER_OPTIONS } from './lib/platform/http/server-options.ts'
import { upgradesForNext } from './lib/platform/http/upgrades.ts'
import { systemClock } from './lib/platform/kernel/clock.ts'
import { captureConsole } from './lib/platform/log/capture-console.ts'
import { createLogger, type Logger } from './lib/platform/log/log.ts'
import { sayFault } from './lib/platform/log/say-fault.ts'
import { createMetrics } from './lib/platform/metrics.ts'
import { openQueue } from './lib/platform/queue/open-queue.ts'
import { releaseMemory } from './lib/platform/release-memory.ts'
import { type Runtime, setRuntime } from './lib/platform/runtime.ts'
import { type Config, loadConfig } from './lib/platform/settings/config.ts'
import { startSweeps } from './lib/platform/sweeps/start-sweeps.ts'
import { openTracing, type Tracing } from './lib/platform/tracing/open-tracing.ts'
import { watchDescriptors } from './lib/platform/watch-descriptors.ts'
import { createTusHandler } from './lib/protocols/tus/create-tus-handler.ts'
import { drainUploads } from './lib/uploads/recovery/drain.ts'
import { uploadSweeps } from './lib/uploads/recovery/upload-sweeps.ts'
import { startWebhookWorker } from './lib/webhooks/delivery/start-webhook-worker.ts'
import { webhookSweeps } from './lib/webhooks/delivery/sweeps.ts'
import { controlSweeps } from './server/control-sweeps.ts'
import { openUploads } from './server/open-uploads.ts'
import { openVault } from './server/open-vault.ts'

/**
 * The composition root: config, database, services, then one HTTP server. What a process does is decided by
 * ROLES: `upload` carries bytes, `web` serves pages and the API, `worker` sends webhooks and sweeps.
 */
const DRAIN_MS = 10_000
const dev = process.argv.includes('--dev')

type Part = { stop(): Promise<void> }

async function main(): Promise<void> {
  const asked = loadConfig()
  const outages = createOutages()
  const log = createLogger(asked.logLevel, { explains: outages.explains })
  const opening = Promise.withResolvers<Opened>()
  const door = frontDoor(opening.promise, { log, trustedProxies: asked.trustedProxies })
  const server = createServer(SERVER_OPTIONS, door)
  server.on('checkContinue', door)
  const listening = await listen(server, asked)
  const demo = listening.demo ? await openDemoBucket(listening, log) : undefined
  const config = demo ? allowDemo(listening, demo.bucket) : listening
  const tracing = await openTracing(config, log)
  const runtime = await openRuntime(config, log, outages)
  const parts: Part[] = []
  if (demo) {
    const { email } = await ensureDemo(runtime, demo)
    process.stdout.write(
      `demo workspace: ${email}; its password and keys are in ${config.dataDir}/demo.json\n`,
    )
    parts.push(demo)
  }
  const handlers = await openRoles(runtime, server, parts)
  releaseMemory()
  watchDescriptors(log)
  opening.resolve(openDoor(runtime, handlers, dev))
  stopOnSignal(runtime, server, { parts, tracing })
  process.stdout.write(`ready ${config.baseUrl}\n`)
}

/** Listens first, so that a taken port is known before the database is touched; the probes answer from now on. */
async function listen(server: Server, config: Config): Promise<Config> {
  server.listen(config.port, config.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  if (config.port === port) return config
  const put = (address: string) => address.replace(/:0$/, `:${port}`)
  return { ...config, port, baseUrl: put(config.baseUrl), uploadUrl: put(config.uploadUrl) }
}

async function openRuntime(config: Config, log: Logger, outages: Outages): Promise<Runtime> {
  const database = await openDatabase(config, { log, outages })
  await untilReached(database.db, log)
  await migrate(database.db)
  const worker = config.roles.has('worker')
  const queue = await openQueue(database, { worker, log })
  const vault = await openVault(database.db, config.encryptionKeys)
  const runtime = {
    config,
    clock: systemClock,
    log,
    metrics: createMetrics(),
    database,
    db: database.db,
    queue,
    vault,
  }
  setRuntime(runtime)
  return runtime
}

/** The demo's bucket and inbox are on this machine, which the guarded network would refuse. */
function allowDemo(config: Config, bucket: DemoBucket): Config {
  const hostAndPort = ({ hostname, port, protocol }: URL) =>
    `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
  const own = [bucket.endpoint, config.baseUrl].map((address) => hostAndPort(new URL(address)))
  return { ...config, allowedPrivateHosts: [...config.allowedPrivateHosts, ...own] }
}

async function openRoles(runtime: Runtime, server: Server, parts: Part[]): Promise<Handlers> {
  const { roles } = runtime.config
  const handlers: Handlers = {}
  if (roles.has('web')) {
    handlers.api = createApiHandler(runtime)
    handlers.pages = await openPages(runtime, server)
  }
  if (!roles.has('upload') && !roles.has('worker')) return handlers
  const uploads = await openUploads(runtime)
  parts.push({ stop: () => drainUploads(uploads) })
  if (roles.has('upload')) handlers.tus = createTusHandler(runtime, uploads)
  if (roles.has('worker')) {
    await startMailWorker(runtime)
    parts.push(await startWebhookWorker(runtime))
    parts.push(
      startSweeps(
        [...webhookSweeps(runtime), ...uploadSweeps(uploads), ...controlSweeps(runtime)],
        runtime.log,
      ),
    )
  }
  return handlers
}

/** Next takes many modules and much memory, so only the nodes that serve pages load it. */
async function openPages({ config, log }: Runtime, server: Server): Promise<Handler> {
  if (!dev) captureConsole(log)
  const { default: next } = await import('next')
  const httpServer = upgradesForNext(server, dev)
  const app = next({ dev, dir: import.meta.dirname, hostname: 'localhost', port: config.port, httpServer })
  await app.prepare()
  return app.getRequestHandler()
}

/** SIGTERM: take nothing new, let what is under way reach a boundary and be recorded, then end with 0. */
function stopOnSignal(
  runtime: Runtime,
  server: Server,
  { parts, tracing }: { parts: Part[]; tracing: Tracing | undefined },
): void {
  let stopping = false
  /** A database that is gone by then keeps nobody from ending: what was promised is committed already. */
  const tried = (work: Promise<unknown>) =>
    work.catch((error: unknown) => runtime.log.warn({ err: error }, 'stopping'))
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    runtime.log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(0), DRAIN_MS).unref()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeIdleConnections()
    await Promise.all(parts.map((part) => tried(part.stop())))
    server.closeIdleConnections()
    await closed
    await tried(runtime.queue.stop())
    await tried(runtime.database.close())
    if (tracing) await tried(tracing.stop())
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal))
}

main().catch((error: unknown) => {
  process.stderr.write(`${sayFault(error)}\n`)
  process.exit(1)
})
