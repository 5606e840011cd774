import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { MigrationMeta } from 'drizzle-orm/migrator'
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/support/postgres.ts'
import { StartError } from '../kernel/errors.ts'
import { createLogger } from '../log/log.ts'
import { type DatabaseHandle, rows } from './database.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './open-postgres.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let handle: DatabaseHandle
beforeAll(async () => {
  database = await createDatabase(inject('postgresUrl'))
  handle = openPostgres({ address: database.url })
})
beforeEach(async () => {
  await handle.db.execute(sql`drop schema public cascade`)
  await handle.db.execute(sql`create schema public`)
})
afterAll(async () => {
  await handle.close()
  await database.drop()
})

const migration = (statement: string): MigrationMeta => ({
  sql: [statement],
  hash: createHash('sha256').update(statement).digest('hex'),
  folderMillis: 0,
  bps: true,
})
const [one, two, three] = ['one', 'two', 'three'].map((name) =>
  migration(`create table ${name} (n int)`),
) as [MigrationMeta, MigrationMeta, MigrationMeta]
const tables = async () => {
  const found = await rows<{ name: string }>(
    handle.db,
    sql`select table_name as name from information_schema.tables
      where table_schema = 'public' and table_name <> 'sluice_migrations' order by name`,
  )
  return found.map(({ name }) => name)
}

it('applies missing migrations once, in order', async () => {
  await migrate(handle.db, [one])
  await migrate(handle.db, [one, two, three])
  await migrate(handle.db, [one, two, three])
  expect(await tables()).toEqual(['one', 'three', 'two'])
})

it('accepts a schema that a newer version has extended', async () => {
  await migrate(handle.db, [one, two, three])
  await migrate(handle.db, [one])
  expect(await tables()).toEqual(['one', 'three', 'two'])
})

it.each([
  ['with a different first migration', [two], [one]],
  ['with different later migrations', [one, two], [one, three]],
  ['with one missing in the middle', [one, three], [one, two, three]],
])('refuses a database %s, changes nothing and says what to do', async (_, made, wanted) => {
  await migrate(handle.db, made)
  const before = await tables()
  await expect(migrate(handle.db, wanted)).rejects.toThrow(
    /^The database was created by a version of Sluice that this one cannot upgrade.* empty database.*DATABASE_URL.*DATA_DIR/,
  )
  await expect(migrate(handle.db, wanted)).rejects.toBeInstanceOf(StartError)
  expect(await tables()).toEqual(before)
})

it("refuses a database with another program's tables, and says what to do", async () => {
  await handle.db.execute(sql`create table users (name text)`)
  await expect(migrate(handle.db)).rejects.toThrow(
    'The database contains tables that Sluice did not create (relation "users" already exists). Give Sluice its own database in DATABASE_URL.',
  )
  expect(await tables()).toEqual(['users'])
})

it('keeps each applied migration even if the next one fails', async () => {
  await expect(migrate(handle.db, [one, migration('select 1/0'), two])).rejects.toThrow()
  expect(await tables()).toEqual(['one'])
  await migrate(handle.db, [one])
})

describe('while nodes are running', () => {
  const alter = migration('alter table one add column m int')

  it('waits for a lock in short attempts, and logs who may hold it', { tags: 'long' }, async () => {
    await migrate(handle.db, [one])
    const lines: { msg: string; why?: string; holders?: { pid: number }[]; migration?: string }[] = []
    const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
    const upload = postgres(database.url, { max: 1, onnotice: () => {} })
    const [{ pid }] = await upload<[{ pid: number }]>`select pg_backend_pid() as pid`
    await upload.unsafe('begin').simple()
    await upload`insert into one values (1)`
    await migrate(handle.db, [one, alter], {
      log,
      async pause() {
        // Writes do not have to wait for the lock that the migration has given up on.
        await handle.db.execute(sql`insert into one values (2)`)
        if (lines.length === 2) await upload.unsafe('commit').simple()
      },
    })
    await upload.end()
    const waiting = {
      msg: 'a migration is waiting for a lock',
      why: expect.stringContaining('lock timeout'),
      holders: expect.arrayContaining([expect.objectContaining({ pid })]),
    }
    expect(lines).toMatchObject([waiting, waiting, { msg: 'applying a migration', migration: alter.hash }])
  })

  it('logs one line for an empty database', async () => {
    const lines: { msg: string }[] = []
    const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
    const index = migration('create index on one (n)')
    await migrate(handle.db, [one, index], { log })
    expect(lines).toMatchObject([{ msg: 'created the schema in an empty database', migrations: 2 }])
  })

  it('builds an index concurrently, and rebuilds it if the build was interrupted', async () => {
    const index = migration('create index concurrently if not exists one_n on one (n)')
    await migrate(handle.db, [one])
    await handle.db.execute(sql`create index one_n on one (n)`)
    await handle.db.execute(sql`update pg_index set indisvalid = false where indexrelid = 'one_n'::regclass`)
    await migrate(handle.db, [one, index])
    const found = sql`select indisvalid as valid from pg_index where indexrelid = 'one_n'::regclass`
    expect(await rows(handle.db, found)).toEqual([{ valid: true }])
  })
})
