import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../../test/support/postgres.ts'
import type { DatabaseHandle } from '../database.ts'
import { MIGRATIONS, migrate, migrationsOf, nameOf } from '../migrate.ts'
import { openPostgres } from '../open-postgres.ts'
import { estimateMs, measure } from './estimate.ts'
import { type Effect, rehearse, waitingFor } from './rehearse.ts'

let database: DatabaseHandle
let drop: () => Promise<void>
beforeEach(async () => {
  const created = await createDatabase(inject('postgresUrl'))
  drop = created.drop
  database = openPostgres({ address: created.url, maxConnections: 2 })
})
afterEach(async () => {
  await database.close()
  await drop()
})

const BASELINE = MIGRATIONS.slice(0, 1)

/** Stands in for a later version's migration. */
const later = (hash: string, ...statements: string[]) => ({
  sql: statements,
  hash,
  bps: true,
  folderMillis: 0,
})

describe('the rehearsal of migrations', () => {
  const effectsOf = async (...statements: string[]) => {
    const [only] = await rehearse(database.db, BASELINE, [...BASELINE, later('new', ...statements)])
    return only!.effects
  }

  it.each<[string, string, Effect[]]>([
    [
      'a nullable column',
      'alter table files add column note text',
      [{ table: 'files', lock: 'AccessExclusiveLock', rows: 'untouched', indexes: 0 }],
    ],
    [
      'a column type change',
      'alter table pipes alter column name type varchar(5000)',
      [{ table: 'pipes', lock: 'AccessExclusiveLock', rows: 'rewritten', indexes: 0 }],
    ],
    [
      'a NOT NULL constraint',
      'alter table files alter column subject set not null',
      [{ table: 'files', lock: 'AccessExclusiveLock', rows: 'read', indexes: 0 }],
    ],
    [
      'an index that blocks writers',
      'create index by_name on files (filename)',
      [{ table: 'files', lock: 'ShareLock', rows: 'read', indexes: 1 }],
    ],
    [
      'an index built concurrently',
      'create index concurrently by_name on files (filename)',
      [{ table: 'files', lock: 'ShareUpdateExclusiveLock', rows: 'read', indexes: 1 }],
    ],
    [
      'an update of rows',
      "update pipes set name = name || '!'",
      [{ table: 'pipes', lock: 'RowExclusiveLock', rows: 'written', indexes: 0 }],
    ],
    ['a new table', 'create table notes (id uuid primary key)', []],
  ])('detects the effect of %s', { tags: 'long' }, async (_, statement, effects) => {
    expect(await effectsOf(statement)).toEqual(effects)
  })

  it("does not count an earlier migration's scans", { tags: 'long' }, async () => {
    const reads = later('reads', 'alter table files alter column subject set not null')
    const adds = later('adds', 'alter table files add column note text')
    const [, added] = await rehearse(database.db, BASELINE, [...BASELINE, reads, adds])
    expect(added!.effects).toMatchObject([{ table: 'files', rows: 'untouched' }])
  })

  it("runs every migration since the baseline, and ends with this version's schema", async () => {
    const rehearsed = await rehearse(database.db, BASELINE, [...MIGRATIONS, later('new', 'select 1')])
    expect(rehearsed.map(({ name }) => name)).toEqual([...MIGRATIONS.slice(1).map(nameOf), 'new'])
    expect(await migrationsOf(database.db)).toEqual(MIGRATIONS)
  })
})

it('reports whether a lock makes nobody, writers or everybody wait', () => {
  expect(['RowExclusiveLock', 'ShareUpdateExclusiveLock'].map(waitingFor)).toEqual(['nobody', 'nobody'])
  expect(['ShareLock', 'ShareRowExclusiveLock'].map(waitingFor)).toEqual(['writers', 'writers'])
  expect(waitingFor('AccessExclusiveLock')).toBe('everybody')
})

describe('the estimate', () => {
  it('covers the entire table with its months, and leaves nothing behind', { tags: 'long' }, async () => {
    const { db } = database
    await migrate(db, BASELINE)
    await db.execute(sql`create table rows_in_months (at date, text text) partition by range (at)`)
    await db.execute(sql`create table rows_in_one partition of rows_in_months default`)
    await db.execute(sql`create index on rows_in_months (at)`)
    await db.execute(
      sql`insert into rows_in_months select now(), repeat('x', 100) from generate_series(1, 20000)`,
    )
    await db.execute(sql`analyze rows_in_one`)
    const costs = await measure(db, 'rows_in_months')
    expect(costs).toMatchObject({ rows: 20_000, indexes: 1 })
    expect(costs.bytes).toBeGreaterThan(2_000_000)
    for (const ms of [costs.readMs, costs.copyMs, costs.indexMs]) expect(ms).toBeGreaterThan(0)
    await expect(db.execute(sql`select from sluice_sample`)).rejects.toThrow()
  })

  it('adds up the parts of an effect', () => {
    const costs = { rows: 1, bytes: 1, indexes: 3, readMs: 5, copyMs: 70, indexMs: 10 }
    const effect = { table: 'files', lock: 'AccessExclusiveLock', indexes: 0 } as const
    expect(estimateMs({ ...effect, rows: 'untouched' }, costs)).toBe(0)
    expect(estimateMs({ ...effect, rows: 'read' }, costs)).toBe(5)
    expect(estimateMs({ ...effect, rows: 'read', indexes: 2 }, costs)).toBe(20)
    expect(estimateMs({ ...effect, rows: 'rewritten' }, costs)).toBe(100)
  })
})

it('reads the existing migrations without creating a table', async () => {
  expect(await migrationsOf(database.db)).toEqual([])
  const found = await database.db.execute(sql`select from pg_tables where schemaname = 'public'`)
  expect(found).toHaveLength(0)
})
