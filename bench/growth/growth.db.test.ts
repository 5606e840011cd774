/** @module-tag long */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_COMPARED } from '#lib/dashboard/files/file-query.ts'
import { type PostgresServer, startOwnPostgres } from '../../test/support/postgres.ts'
import { type Explained, openExplained } from './explained.ts'
import { growTo } from './grow.ts'
import { openStage, type Stage } from './hot-paths.ts'
import { type Measured, measure } from './measure.ts'

/** Checks that no frequent statement scans or sorts a growing table, or reads more rows as the table grows. */
const SIZES = [30_000, 60_000]
/** The allowed variation in rows read, which depends on the ids of a run. */
const FEW = 1000
/**
 * Events are kept for 30 days, which may span three months on March 1. The next month and the default partition are
 * added.
 */
const MAX_MONTHS = 5
/** This sweep counts up to 100,000 rows for an operator's metric, but only one worker runs it. */
const COUNTED = 'the sweep “backlog”'

let server: PostgresServer
let database: Explained
let stage: Stage
const measured: Measured[][] = []

beforeAll(async () => {
  // Reading a small table completely is fast, so PostgreSQL would not use the indexes. This makes index access as cheap
  // as in a large one.
  server = await startOwnPostgres({ random_page_cost: 1.1, fsync: 'off', max_connections: 50 })
  database = await openExplained(server.url)
  stage = await openStage(database)
  for (const [at, size] of SIZES.entries()) {
    await growTo(database.db, stage.tenant, SIZES[at - 1] ?? 0, size)
    measured.push(await measure(database, await stage.paths()))
  }
})
afterAll(async () => {
  await stage?.close()
  await database?.close()
  await server?.stop()
})

const scanning = (all: Measured[]) => all.filter(({ scans }) => scans.length > 0)
const sorting = (all: Measured[]) => all.filter(({ sorted }) => sorted > MAX_COMPARED)
const told = (all: Measured[]) => all.map(({ path, text, plan }) => [path, text, ...plan].join('\n'))

it('scans no growing table', () => {
  expect(told(scanning(measured.at(-1)!))).toEqual([])
})

it('sorts no more rows than a list compares', () => {
  expect(told(sorting(measured.at(-1)!))).toEqual([])
})

it('reads no more rows as a table grows', () => {
  const [small, large] = measured as [Measured[], Measured[]]
  const growing = large.filter(({ path, text, read }) => {
    const before = small.find((one) => one.path === path && one.text === text)
    return read > FEW && before && read > 1.5 * before.read && path !== COUNTED
  })
  expect(told(growing)).toEqual([])
})

it('reads only the months of retained events, the next one, and the default', () => {
  const wide = measured.at(-1)!.filter(({ months }) => months > MAX_MONTHS)
  expect(told(wide)).toEqual([])
})

it.each(['custom', 'generic'])(
  'counts open uploads without reading other files, with a %s plan',
  async (kind) => {
    const { db } = database
    await db.execute(sql.raw(`set plan_cache_mode = force_${kind}_plan`))
    const figures = (await stage.paths()).filter(({ name }) => name.endsWith('figures'))
    const wide = (await measure(database, figures)).filter(({ read }) => read > 2 * FEW)
    await db.execute(sql`reset plan_cache_mode`)
    expect(figures).toHaveLength(2)
    expect(told(wide)).toEqual([])
  },
)

it('detects statements that scan, sort, or read too many months', async () => {
  const { db } = database
  const planted = await measure(database, [
    { name: 'a scan', run: () => db.execute(sql`select id from files where subject = 'nobody'`) },
    { name: 'a sort', run: () => db.execute(sql`select id from files order by filename limit 1`) },
    { name: 'a year', run: () => db.execute(sql`select id from file_timeline where kind = 'none'`) },
  ])
  expect(scanning(planted).map(({ path }) => path)).toEqual(['a scan', 'a sort', 'a year'])
  expect(planted.at(-1)!.months).toBeGreaterThan(MAX_MONTHS)
  expect(sorting(planted).map(({ path }) => path)).toEqual(['a sort'])
})
