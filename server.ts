import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DemoBucket, DemoDocument } from './lib/dashboard/demo/ensure-demo.ts'
import { createOutages } from './lib/platform/db/outages.ts'
import { createLogger, type Logger } from './lib/platform/log/log.ts'
import { sayFault } from './lib/platform/log/say-fault.ts'
import type { Runtime } from './lib/platform/runtime.ts'
import { type Config, loadConfig } from './lib/platform/settings/config.ts'
import { risksOf } from './lib/platform/settings/reach.ts'
import { startSweeps } from './lib/platform/sweeps.ts'
import { createUploadHandler } from './lib/protocols/create-upload-handler.ts'
import { drainUploads } from './lib/uploads/upload-context.ts'
import { collectWhenIdle } from './server/collect-when-idle.ts'
import { frontDoor, type Handlers, type Opened, openDoor } from './server/http/front-door.ts'
import { hostCertificates } from './server/http/host-certificates.ts'
import { openServer } from './server/http/open-server.ts'
import { relayTo, trustsRelay } from './server/http/relay.ts'
import { proxyTrust } from './server/http/trusted-proxies.ts'
import { memoryLimitSweep } from './server/limit-memory.ts'
import { openFtp } from './server/open-ftp.ts'
import { openRuntime } from './server/open-runtime.ts'
import { openSftp } from './server/open-sftp.ts'
import { openTracing } from './server/open-tracing.ts'
import { openUploads } from './server/open-uploads.ts'
import { joinSupervisor } from './server/processes/join-supervisor.ts'
import {
  configOfMember,
  configOfSupervisor,
  type Membership,
  readMembership,
} from './server/processes/membership.ts'
import { startProcesses } from './server/processes/start-processes.ts'
import { releaseMemory } from './server/release-memory.ts'
import { type Part, stopOnSignal } from './server/stop-on-signal.ts'
import { tellOfNode } from './server/tell-of-node.ts'
import { watchDescriptors } from './server/watch-descriptors.ts'

const dev = process.argv.includes('--dev')
const membership = readMembership()

/**
 * The composition root: config, database, services, then one HTTP server. ROLES decides what a process does: `upload`
 * receives files, `web` serves pages and the API, `worker` sends webhooks and runs sweeps. If PROCESSES is more than 1,
 * this process is the supervisor: it prepares the database, and starts separate processes for each role.
 */
async function main(): Promise<void> {
  const asked = membership ? configOfMember(loadConfig(), membership) : readConfig()
  const outages = createOutages()
  const log = createLogger(asked.logLevel, { explains: outages.explains, process: membership?.name })
  const opening = Promise.withResolvers<Opened>()
  const isBehindRelay = membership !== undefined && !asked.roles.has('upload')
  const trusts = isBehindRelay ? trustsRelay : proxyTrust(asked.trustedProxies)
  const door = frontDoor(opening.promise, { log, trusts })
  const tls = isBehindRelay ? undefined : asked.tls
  const choosing = asked.acmeDirectory === undefined ? {} : hostCertificates(opening.promise)
  const server = openServer(door, { tls, log, choosing })
  server.on('checkContinue', door)
  const listening = await listen(server, asked)
  const demo = listening.demo && !membership ? await openDemo(listening, log) : undefined
  const config = demo ? allowDemo(listening, demo.bucket) : listening
  const supervises = config.processes > 1
  const own = supervises ? configOfSupervisor(config) : config
  const tracing = await openTracing(own, log)
  const runtime = await openRuntime(own, { log, outages, share: membership !== undefined })
  const parts: Part[] = demo ? [demo] : []
  if (!membership) for (const risk of risksOf(config)) log.warn(risk)
  const toldDemo = demo && (await tellDemo(runtime, demo))
  const start = supervises ? supervise(config) : serve
  const say = await start(runtime, { server, opening, parts })
  stopOnSignal(runtime, server, { parts, tracing })
  say()
  if (toldDemo && process.stdout.isTTY) process.stdout.write(`${welcome(toldDemo)}\n`)
}

/** `npm run dev` runs a single process, in which Next.js reloads changed code. */
function readConfig(): Config {
  const config = loadConfig()
  return dev ? { ...config, processes: 1 } : config
}

type Start = (
  runtime: Runtime,
  into: { server: Server; opening: PromiseWithResolvers<Opened>; parts: Part[] },
) => Promise<() => void>

const serve: Start = async (runtime, { server, opening, parts }) => {
  const handlers = await openRoles(runtime, server, parts)
  releaseMemory()
  collectWhenIdle()
  watchDescriptors(runtime.log)
  const supervisor = membership && joinSupervisor(runtime)
  opening.resolve(openDoor(runtime, handlers, { dev, readMetrics: supervisor?.readMetrics }))
  return supervisor ? supervisor.sayReady : () => sayReady(runtime.config)
}

/** Closes the port, which was only opened to check that it is free, and starts the processes. */
const supervise =
  (config: Config): Start =>
  async ({ log, metrics, queue }, { server, parts }) => {
    await queue.stop()
    releaseMemory()
    server.close()
    server.closeAllConnections()
    parts.push(await startProcesses({ config, log, metrics }))
    return () => sayReady(config)
  }

function sayReady({ baseUrl }: Config): void {
  // A full disk under the log is no reason to stop.
  process.stdout.on('error', () => {})
  process.stdout.write(`ready ${baseUrl}\n`)
}

async function openDemo(config: Config, log: Logger) {
  const { openDemoBucket } = await import('./lib/dashboard/demo/open-demo-bucket.ts')
  return openDemoBucket(config, log)
}

async function tellDemo(runtime: Runtime, demo: { bucket: DemoBucket }): Promise<DemoDocument> {
  const { ensureDemo } = await import('./lib/dashboard/demo/ensure-demo.ts')
  const document = await ensureDemo(runtime, demo)
  const file = `${runtime.config.dataDir}/demo.json`
  runtime.log.info(`demo workspace: ${document.email}; its password and keys are in ${file}`)
  return document
}

/** For a terminal. The log never has the password. */
const welcome = ({ baseUrl, email, password }: DemoDocument) => `
  Sluice is running at ${baseUrl}

  To look around, choose “Open the demo” at ${baseUrl}/login,
  or sign in as ${email} with the password ${password}
`

/**
 * Listens before anything else, so that an occupied port is reported before the database is opened. From then on, the
 * server responds to probes.
 */
async function listen(server: Server, config: Config): Promise<Config> {
  if (membership && !config.roles.has('upload')) return listenBehindRelay(server, config, membership)
  server.listen(config.port, config.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  if (config.port === port) return config
  const put = (address: string) => address.replace(/:0$/, `:${port}`)
  return { ...config, port, baseUrl: put(config.baseUrl), uploadUrl: put(config.uploadUrl) }
}

/**
 * Listens on a socket that belongs to this process alone. A killed process may have left the socket's file
 * behind, so the file is removed first. Workers serve no requests, so they do not listen.
 */
async function listenBehindRelay(
  server: Server,
  config: Config,
  { pagesSocket }: Membership,
): Promise<Config> {
  if (!config.roles.has('web') || !pagesSocket) return config
  rmSync(pagesSocket, { force: true })
  server.listen({ path: pagesSocket, exclusive: true })
  await once(server, 'listening')
  return config
}

/** Allows the demo's bucket and inbox, which are on this machine and would otherwise be blocked. */
function allowDemo(config: Config, bucket: DemoBucket): Config {
  const hostAndPort = ({ hostname, port, protocol }: URL) =>
    `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
  const own = [bucket.endpoint, config.baseUrl].map((address) => hostAndPort(new URL(address)))
  return { ...config, allowedPrivateHosts: [...config.allowedPrivateHosts, ...own] }
}

/** A process only loads the modules of its own roles, which saves an upload node 10 MiB. */
async function openRoles(runtime: Runtime, server: Server, parts: Part[]): Promise<Handlers> {
  const { roles, sftpPort, ftp } = runtime.config
  const handlers: Handlers = {}
  if (roles.has('upload') && membership?.pagesSocket) handlers.relay = relayTo(membership.pagesSocket)
  if (roles.has('web')) {
    const { createApiHandler } = await import('./lib/api/handle-request.ts')
    const { openPages } = await import('./server/open-pages.ts')
    handlers.api = createApiHandler(runtime)
    handlers.pages = await openPages(runtime, server, dev)
  }
  parts.push(tellOfNode(runtime))
  if (!roles.has('upload') && !roles.has('worker')) return handlers
  const uploads = await openUploads(runtime)
  parts.push({ stop: () => drainUploads(uploads) })
  parts.push(startSweeps([memoryLimitSweep(uploads)], runtime.log))
  if (roles.has('upload')) {
    handlers.uploads = createUploadHandler(runtime, uploads)
    if (sftpPort !== undefined) parts.push(await openSftp(runtime, uploads, sftpPort))
    if (ftp) parts.push(await openFtp(runtime, uploads, ftp))
  }
  if (roles.has('worker')) {
    const { startWorker } = await import('./server/start-worker.ts')
    parts.push(...(await startWorker(runtime, uploads)))
  }
  return handlers
}

main().catch((error: unknown) => {
  process.stderr.write(`${sayFault(error)}\n`)
  process.exit(1)
})
