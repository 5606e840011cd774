import { writeFileSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { openQueue } from '#lib/platform/queue.ts'
import { expireUploads, LATE_AT_ONCE } from '#lib/recovery/upload-sweeps.ts'
import { renewLeases } from '#lib/uploads/ledger/lease-rows.ts'
import { drainUploads } from '#lib/uploads/upload-context.ts'
import { openUploads } from '#server/open-uploads.ts'
import { createDatabase, startOwnPostgres } from '../../test/support/postgres.ts'
import { createSite } from '../../test/support/upload-site.ts'
import { GROWING, growTo } from '../growth/grow.ts'
import { cpuOfPostgres } from '../postgres-usage.ts'
import { addOpenUploads, giveUp, leasesOf } from './open-uploads.ts'

/** Databases with very many files and open uploads, which no benchmark measures. */
export type OpenUploads = {
  open: number
  bytesEach: number
  renewalsPerSecond: number
  cpuSecondsPer1000Renewals: number
  walBytesPerRenewal: number
  endingsPerSecond: number
}
export type Simulated = { bytesOfAFile: number; openUploads: OpenUploads[] }

const SIZES = [100_000, 1_000_000]
const FILES = 100_000
/** As in lib/uploads/lease/lease-renewal.ts, four groups at a time for each of several nodes. */
const RENEWED_TOGETHER = 50
const RENEWALS_AT_ONCE = 16
const RENEWED = 100_000
const GIVEN_UP = 2000

/** Settings that an operator would use, except for the sizes. */
const SETTINGS = { shared_buffers: '2GB', max_wal_size: '8GB', max_connections: 50 }

/** Simulates all cases, and writes the results. */
export async function simulate(file: URL): Promise<void> {
  const server = await startOwnPostgres(SETTINGS)
  try {
    const simulated: Simulated = {
      bytesOfAFile: await inDatabase(server.url, measureFiles),
      openUploads: await inDatabase(server.url, measureOpenUploads),
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
  const measured: OpenUploads[] = []
  for (const [at, open] of SIZES.entries()) {
    await addOpenUploads(database.db, owner, SIZES[at - 1] ?? 0, open)
    const bytesEach = (await sizeOf(database)) / open
    const renewals = await measureRenewals(database, open)
    await giveUp(database.db, at * GIVEN_UP + GIVEN_UP)
    const endingMs = await millisecondsOf(async () => {
      for (let ended = 0; ended < GIVEN_UP; ended += LATE_AT_ONCE) await expireUploads(context)
    })
    measured.push({ open, bytesEach, ...renewals, endingsPerSecond: (GIVEN_UP / endingMs) * 1000 })
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
  const cpu = cpuOfPostgres(await backendOf(db))
  const before = { wal: await walOf(db), cpu: cpu() }
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
    cpuSecondsPer1000Renewals: ((cpu() - before.cpu) / RENEWED) * 1000,
    walBytesPerRenewal: ((await walOf(db)) - before.wal) / RENEWED,
  }
}

const backendOf = async (db: DatabaseHandle['db']) =>
  (await rows<{ pid: number }>(db, sql`select pg_backend_pid() as pid`))[0]!.pid
const walOf = async (db: DatabaseHandle['db']) =>
  (await rows<{ bytes: number }>(db, sql`select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`))[0]!
    .bytes
