import { writeFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { openQueue } from '#lib/platform/queue.ts'
import { renewLeases } from '#lib/uploads/ledger/leases.ts'
import { currentOffset } from '#lib/uploads/ledger/offsets.ts'
import { LATE_AT_ONCE } from '#lib/uploads/ledger/open-uploads.ts'
import { expireUploads, uploadSweeps } from '#lib/uploads/recovery/upload-sweeps.ts'
import { drainUploads } from '#lib/uploads/upload-context.ts'
import { controlSweeps } from '#server/control-sweeps.ts'
import { openUploads } from '#server/open-uploads.ts'
import { createDatabase, startOwnPostgres } from '../../test/support/postgres.ts'
import { createSite } from '../../test/support/upload-site.ts'
import { GROWING, growTo } from '../growth/grow.ts'
import { percentile } from '../load.ts'
import { measurePostgres } from '../postgres-usage.ts'
import { addOpenUploads, giveUp, leasesOf } from './open-uploads.ts'

/**
 * Cases that no benchmark measures: databases with very many open uploads, and with very many connections.
 */
export type OpenUploads = {
  open: number
  bytesEach: number
  renewalsPerSecond: number
  cpuSecondsPer1000Renewals: number
  walBytesPerRenewal: number
  endingsPerSecond: number
  slowestSweep: { name: string; ms: number }
}
export type Connections = { connections: number; bytesEach: number; perSecond: number; p99Ms: number }
export type Simulated = { bytesOfAFile: number; openUploads: OpenUploads[]; connections: Connections[] }

const SIZES = [100_000, 1_000_000]
const CROWDS = [20, 100, 300, 1000]
const FILES = 100_000
/** As in lib/uploads/lease/lease-renewal.ts, four groups at a time for each of several nodes. */
const RENEWED_TOGETHER = 50
const RENEWALS_AT_ONCE = 16
const RENEWED = 100_000
const GIVEN_UP = 2000
const LOAD_MS = 5000

/** Settings that an operator would use, except for the sizes. */
const SETTINGS = { shared_buffers: '2GB', max_wal_size: '8GB', max_connections: Math.max(...CROWDS) + 50 }

/** Simulates all cases, and writes the results. */
export async function simulate(file: URL): Promise<void> {
  const server = await startOwnPostgres(SETTINGS)
  try {
    const simulated: Simulated = {
      bytesOfAFile: await inDatabase(server.url, measureFiles),
      openUploads: await inDatabase(server.url, measureOpenUploads),
      connections: await inDatabase(server.url, measureConnections),
    }
    writeFileSync(file, `${JSON.stringify(simulated, null, 2)}\n`)
  } finally {
    await server.stop()
  }
}

async function inDatabase<Result>(
  serverUrl: string,
  measure: (database: DatabaseHandle) => Promise<Result>,
): Promise<Result> {
  const { url, drop } = await createDatabase(serverUrl)
  const database = openPostgres({ address: url, maxConnections: RENEWALS_AT_ONCE })
  await migrate(database.db)
  try {
    return await measure(database)
  } finally {
    await database.close()
    await drop()
  }
}

async function openSite(database: DatabaseHandle) {
  const site = await createSite(database)
  const { workspaceId, pipe, sender, dataStore } = site
  await site.bucket.close()
  return { site, owner: { workspaceId, pipeId: pipe.id, senderId: sender.id, dataStoreId: dataStore.id } }
}

const sizeOf = async ({ db }: DatabaseHandle) => {
  const tables = sql.join(
    GROWING.map((table) => sql`pg_total_relation_size(${table}::regclass)`),
    sql` + `,
  )
  return (await rows<{ bytes: number }>(db, sql`select (${tables})::float8 as bytes`))[0]!.bytes
}

/** Returns the bytes per file. Most files have an event, a delivery and an attempt: see `growTo`. */
async function measureFiles(database: DatabaseHandle): Promise<number> {
  const { owner } = await openSite(database)
  await growTo(database.db, { ...owner, pipeIds: [owner.pipeId] }, 0, FILES)
  return (await sizeOf(database)) / FILES
}

async function measureOpenUploads(database: DatabaseHandle): Promise<OpenUploads[]> {
  const { owner, site } = await openSite(database)
  const queue = await openQueue(database, { worker: false, log: site.runtime.log })
  const runtime = { ...site.runtime, queue }
  const context = await openUploads(runtime)
  const sweeps = [...uploadSweeps(context), ...controlSweeps(runtime)]
  const measured: OpenUploads[] = []
  for (const [at, open] of SIZES.entries()) {
    await addOpenUploads(database.db, owner, SIZES[at - 1] ?? 0, open)
    const bytesEach = (await sizeOf(database)) / open
    const renewals = await measureRenewals(database, open)
    const times: OpenUploads['slowestSweep'][] = []
    for (const { name, run } of sweeps) times.push({ name, ms: await millisecondsOf(run) })
    await giveUp(database.db, at * GIVEN_UP + GIVEN_UP)
    const endingMs = await millisecondsOf(async () => {
      for (let ended = 0; ended < GIVEN_UP; ended += LATE_AT_ONCE) await expireUploads(context)
    })
    const [slowestSweep] = times.sort((one, other) => other.ms - one.ms)
    measured.push({
      open,
      bytesEach,
      ...renewals,
      endingsPerSecond: (GIVEN_UP / endingMs) * 1000,
      slowestSweep: slowestSweep!,
    })
  }
  await drainUploads(context)
  await queue.stop()
  return measured
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** Renews leases that are spread over all uploads, as a node's are. */
async function measureRenewals({ db }: DatabaseHandle, open: number) {
  const usage = measurePostgres(await backendOf(db))
  const before = { wal: await walOf(db), cpu: usage().cpuSeconds }
  let next = 0
  const renew = async () => {
    while (next < RENEWED / RENEWED_TOGETHER) {
      const first = 1 + ((next++ * 7919 * RENEWED_TOGETHER) % (open - RENEWED_TOGETHER))
      await renewLeases(db, leasesOf(first, RENEWED_TOGETHER), 15_000)
    }
  }
  const ms = await millisecondsOf(() => Promise.all(Array.from({ length: RENEWALS_AT_ONCE }, renew)))
  return {
    renewalsPerSecond: (RENEWED / ms) * 1000,
    cpuSecondsPer1000Renewals: ((usage().cpuSeconds - before.cpu) / RENEWED) * 1000,
    walBytesPerRenewal: ((await walOf(db)) - before.wal) / RENEWED,
  }
}

const backendOf = async (db: DatabaseHandle['db']) =>
  (await rows<{ pid: number }>(db, sql`select pg_backend_pid() as pid`))[0]!.pid
const walOf = async (db: DatabaseHandle['db']) =>
  (await rows<{ bytes: number }>(db, sql`select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`))[0]!
    .bytes

/** Each connection repeatedly requests an offset, like a HEAD. */
async function measureConnections(database: DatabaseHandle): Promise<Connections[]> {
  const { owner } = await openSite(database)
  await addOpenUploads(database.db, owner, 0, Math.min(...SIZES))
  const usage = measurePostgres(await backendOf(database.db))
  const before = usage().rssBytes
  const measured: Connections[] = []
  for (const connections of CROWDS) {
    const nodes = await openNodes(database, connections)
    const times = (await Promise.all(nodes.map((node) => ask(node, connections / nodes.length)))).flat()
    const bytesEach = (usage().rssBytes - before) / connections
    for (const node of nodes) await node.close()
    measured.push({
      connections,
      bytesEach,
      perSecond: (times.length / LOAD_MS) * 1000,
      p99Ms: percentile(times, 0.99),
    })
  }
  return measured
}

const CONNECTIONS_OF_A_NODE = 20

/**
 * Opens nodes one after another, waiting until each connection has a query plan. If all of them connected at the same
 * time, PostgreSQL would reject some.
 */
async function openNodes({ address }: DatabaseHandle, connections: number): Promise<DatabaseHandle[]> {
  const nodes: DatabaseHandle[] = []
  for (let open = 0; open < connections; open += CONNECTIONS_OF_A_NODE) {
    const node = openPostgres({ address, maxConnections: CONNECTIONS_OF_A_NODE })
    await Promise.all(Array.from({ length: CONNECTIONS_OF_A_NODE * 8 }, () => currentOffset(node.db, FILE)))
    nodes.push(node)
  }
  return nodes
}

const FILE = leasesOf(4711, 1)[0]!.fileId

async function ask({ db }: DatabaseHandle, atOnce: number): Promise<number[]> {
  const times: number[] = []
  const untilMs = performance.now() + LOAD_MS
  const one = async () => {
    while (performance.now() < untilMs) times.push(await millisecondsOf(() => currentOffset(db, FILE)))
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return times
}
