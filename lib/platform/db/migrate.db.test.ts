import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { MigrationMeta } from 'drizzle-orm/migrator'
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest'
import { createDatabase } from '../../../test/support/postgres.ts'
import { StartError } from '../kernel/errors.ts'
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

it('applies what is missing, in order, once', async () => {
  await migrate(handle.db, [one])
  await migrate(handle.db, [one, two, three])
  await migrate(handle.db, [one, two, three])
  expect(await tables()).toEqual(['one', 'three', 'two'])
})

it('runs on a schema that a newer version has added to', async () => {
  await migrate(handle.db, [one, two, three])
  await migrate(handle.db, [one])
  expect(await tables()).toEqual(['one', 'three', 'two'])
})

it.each([
  ['whose first migration is another', [two], [one]],
  ['that went on differently', [one, two], [one, three]],
  ['that lacks one in the middle', [one, three], [one, two, three]],
])('refuses a database %s, changes nothing and says what to do', async (_, made, wanted) => {
  await migrate(handle.db, made)
  const before = await tables()
  await expect(migrate(handle.db, wanted)).rejects.toThrow(
    /^The database was made by a version of Sluice that this one cannot upgrade.* empty database.*DATABASE_URL.*DATA_DIR/,
  )
  await expect(migrate(handle.db, wanted)).rejects.toBeInstanceOf(StartError)
  expect(await tables()).toEqual(before)
})

it("refuses a database that holds somebody else's tables, and says what to do", async () => {
  await handle.db.execute(sql`create table users (name text)`)
  await expect(migrate(handle.db)).rejects.toThrow(
    'The database holds tables that Sluice did not make (relation "users" already exists). Give Sluice a database of its own in DATABASE_URL.',
  )
  expect(await tables()).toEqual(['users'])
})
