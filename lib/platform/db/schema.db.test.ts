import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { sql } from 'drizzle-orm'
import { afterEach, expect, inject, it } from 'vitest'
import * as schema from '#drizzle/schema/index.ts'
import { createDatabase } from '../../../test/support/postgres.ts'
import { type Db, rows } from './database.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './open-postgres.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

it('the migrations create the schema in drizzle/schema', async () => {
  const [migrated, wanted] = [await openEmpty(), await openEmpty()]
  await migrate(migrated)
  const [empty, whole] = [{}, schema].map((tables) =>
    generateDrizzleJson(tables, undefined, undefined, 'snake_case'),
  )
  for (const statement of await generateMigration(empty!, whole!)) await wanted.execute(sql.raw(statement))
  expect(await catalog(migrated)).toEqual(await catalog(wanted))
})

async function openEmpty(): Promise<Db> {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ address: url })
  closing.push(drop, handle.close)
  return handle.db
}

/** Every column, index and constraint, one per line, without those of partitions. */
async function catalog(db: Db): Promise<string[]> {
  const found = await rows<{ line: string }>(
    db,
    sql`select concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end, 'default ' || pg_get_expr(adbin, adrelid)) as line
      from pg_attribute join pg_class on pg_class.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace and attnum > 0
        and not attisdropped
      union all select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
      from pg_index join pg_class on pg_class.oid = indrelid
      where not relispartition and relnamespace = 'public'::regnamespace
      union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
      from pg_constraint join pg_class on pg_class.oid = conrelid
      where not relispartition and connamespace = 'public'::regnamespace`,
  )
  return found
    .map(({ line }) => line)
    .filter((line) => !line.includes('sluice_migrations'))
    .sort()
}
