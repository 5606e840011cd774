import { rmSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { temporaryFolder } from '../test/support/sluice.ts'
import type { Finding } from './cases.ts'
import { inTurns, seconds } from './in-turns.ts'
import { create, head, inParallel, MiB, patch, type Target, upload } from './load.ts'
import { measurePostgres } from './postgres-usage.ts'
import { type Measured, startMeasured, type Usage } from './processes.ts'
import { startEmbeddedNode, startSluiceNode } from './sluice-site.ts'

/** PostgreSQL 18's defaults for the settings that the embedded one overrides. */
const STOCK = {
  shared_buffers: '128MB',
  max_connections: 100,
  work_mem: '4MB',
  maintenance_work_mem: '64MB',
  max_wal_size: '1GB',
  min_wal_size: '80MB',
  wal_level: 'replica',
  max_wal_senders: 10,
  max_logical_replication_workers: 4,
  max_worker_processes: 8,
  max_parallel_workers: 8,
  max_parallel_workers_per_gather: 2,
  max_parallel_maintenance_workers: 2,
  autovacuum_max_workers: 3,
  autovacuum_worker_slots: 16,
  io_method: 'worker',
  jit: 'on',
  huge_pages: 'try',
  dynamic_shared_memory_type: 'posix',
  log_checkpoints: 'on',
}

const GiB = 1024 * MiB
const MOST = 1.1

type Contender = { target: Target; usage(): Promise<Usage> }
type Load = {
  what: string
  unit: string
  digits: number
  faster?: boolean
  of(on: Contender): Promise<number>
}

const small = async (target: Target) => patch(target, await create(target, 4096), 0, 4096)

const cpu = (what: string, work: (target: Target) => Promise<unknown>): Load => ({
  what: `CPU including PostgreSQL, ${what}`,
  unit: 's',
  digits: 2,
  async of({ target, usage }) {
    const before = await usage()
    await work(target)
    return (await usage()).cpuSeconds - before.cpuSeconds
  },
})

const rate = (what: string, count: number, work: (target: Target) => Promise<unknown>): Load => ({
  what: `${what}, 16 at once`,
  unit: 'a second',
  digits: 0,
  faster: true,
  of: async ({ target }) =>
    count / (await seconds(() => inParallel(count, 16, async () => void (await work(target))))),
})

const manyHeads = async (target: Target, count: number) => {
  const url = await create(target, 100)
  for (let n = 0; n < count; n++) await head(target, url)
}

const LOADS: Load[] = [
  cpu('1 GiB in chunks of 8 MiB', (target) => upload(target, GiB, 8 * MiB)),
  cpu('1,000 files of 4 KiB by POST and PATCH', (target) => inParallel(1000, 1, () => small(target))),
  cpu('1,000 HEAD', (target) => manyHeads(target, 1000)),
  rate('files of 4 KiB by POST and PATCH', 2000, small),
  rate('HEAD', 5000, headOf),
  {
    what: 'memory including PostgreSQL, afterwards',
    unit: 'MiB',
    digits: 0,
    of: async ({ usage }) => (await usage()).rssBytes / MiB,
  },
]

const known = new WeakMap<Target, Promise<string>>()

/** Requests the offset of an upload, which is created on first use. */
async function headOf(target: Target): Promise<void> {
  const url = known.get(target) ?? create(target, 100)
  known.set(target, url)
  await head(target, await url)
}

/** Compares the embedded database with a PostgreSQL server with default settings on the same machine. */
export async function benchEmbedded(sinkUrl: string): Promise<Finding[]> {
  using folder = temporaryFolder()
  const server = await startPostgres(STOCK)
  const embedded = await startEmbeddedNode(folder.path, sinkUrl)
  const shared = await startSluiceNode(server.url, sinkUrl)
  try {
    const contenders = await Promise.all([embedded, shared].map(contenderOf))
    for (const { target } of contenders) await inParallel(200, 16, () => small(target))
    const found = await benchStarts()
    for (const load of LOADS) found.push(compare(load, await inTurns(load.of, contenders)))
    return found
  } finally {
    for (const { node, drop } of [embedded, shared]) {
      await drop()
      await node.stop()
    }
    await server.stop()
  }
}

async function contenderOf(of: { node: Measured; target: Target; database: DatabaseHandle }) {
  const [{ pid }] = (await rows<{ pid: number }>(of.database.db, sql`select pg_backend_pid() as pid`)) as [
    { pid: number },
  ]
  const usageOfPostgres = measurePostgres(pid)
  const usage = async () => {
    const [own, its] = [await of.node.usage(), usageOfPostgres()]
    return { cpuSeconds: own.cpuSeconds + its.cpuSeconds, rssBytes: own.rssBytes + its.rssBytes }
  }
  return { target: of.target, usage }
}

function compare({ what, unit, digits, faster = false }: Load, figures: number[]): Finding {
  const [ours, theirs] = figures as [number, number]
  const times = faster ? theirs / ours : ours / theirs
  return {
    what,
    measured: `${(ours / theirs).toFixed(2)} times (${ours.toFixed(digits)} to ${theirs.toFixed(digits)} ${unit})`,
    wanted: faster ? `≥ ${(1 / MOST).toFixed(2)} times` : `≤ ${MOST} times`,
    holds: times <= MOST,
  }
}

const START = { PORT: '0', FREE_TIER_BYTES: '0' }
const COMPILED = new URL('../node_modules/.cache/sluice', import.meta.url)

/** Measures how long all of Sluice with its demo takes to start, as with `npm start` once the pages are built. */
async function benchStarts(): Promise<Finding[]> {
  const once = async (dataDir: string) => {
    let node: Measured | undefined
    const took = await seconds(async () => {
      node = await startMeasured('../scripts/start.ts', { ...START, DATA_DIR: dataDir })
    })
    await node!.stop()
    return took
  }
  const first = async () => {
    rmSync(COMPILED, { recursive: true, force: true })
    using folder = temporaryFolder()
    return once(folder.path)
  }
  using kept = temporaryFolder()
  await once(kept.path)
  const [fresh, again] = (await inTurns((start) => start(), [first, () => once(kept.path)])) as [
    number,
    number,
  ]
  return [said('first start', fresh, 15), said('second start', again, 4)]
}

const said = (what: string, took: number, most: number): Finding => ({
  what: `${what}, apart from building the pages`,
  measured: `${took.toFixed(1)} s`,
  wanted: `≤ ${most} s`,
  holds: took <= most,
})
