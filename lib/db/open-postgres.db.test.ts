import { sql } from 'drizzle-orm'
import { expect, inject, it } from 'vitest'
import { rows } from './database.ts'
import { openPostgres } from './open-postgres.ts'

async function preparedBy(url: string): Promise<string[]> {
  const { db, close } = openPostgres({ url, maxConnections: 1 })
  try {
    for (const n of [1, 2]) expect(await rows(db, sql`select ${n}::int as n`)).toEqual([{ n }])
    const found = await rows<{ statement: string }>(db, sql`select statement from pg_prepared_statements`)
    return found.map(({ statement }) => statement)
  } finally {
    await close()
  }
}

it('lets PostgreSQL keep the plan of a hand-made statement', async () => {
  expect(await preparedBy(inject('postgresUrl'))).toContain('select $1::int as n')
})

it('prepares nothing where the address says so', async () => {
  expect(await preparedBy(`${inject('postgresUrl')}?prepare=false`)).toEqual([])
})
