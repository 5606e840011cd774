import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { expect, inject, it } from 'vitest'
import { freePort } from '../../../test/support/postgres.ts'
import { rows } from './database.ts'
import { forgetful } from './guard-client.ts'
import { openPostgres } from './open-postgres.ts'

async function preparedBy(url: string): Promise<string[]> {
  const { db, close } = openPostgres({ address: url, maxConnections: 1 })
  try {
    for (const n of [1, 2]) expect(await rows(db, sql`select ${n}::int as n`)).toEqual([{ n }])
    const found = await rows<{ statement: string }>(db, sql`select statement from pg_prepared_statements`)
    return found.map(({ statement }) => statement)
  } finally {
    await close()
  }
}

it('prepares handwritten statements, so that PostgreSQL keeps their plans', async () => {
  expect(await preparedBy(inject('postgresUrl'))).toContain('select $1::int as n')
})

it('prepares nothing if the address contains prepare=false', async () => {
  expect(await preparedBy(`${inject('postgresUrl')}?prepare=false`)).toEqual([])
})

it('drops the parameters of a completed statement', async () => {
  const client = postgres(inject('postgresUrl'), { max: 1 })
  const run = forgetful(client.unsafe)
  const query = run('select $1::text as a', ['long'], { prepare: true })
  expect([...(await query)]).toEqual([{ a: 'long' }])
  expect(query).toMatchObject({ args: [], parameters: [] })
  await expect(run('select $1::int', ['no number'])).rejects.toThrow('invalid input syntax')
  await client.end()
})

it('fails quickly if it cannot connect, however often it has failed before', {
  tags: 'long',
  timeout: 30_000,
}, async () => {
  const address = `postgres://nobody@127.0.0.1:${await freePort()}/none`
  const { db, close } = openPostgres({ address, maxConnections: 1 })
  // By default, postgres.js would take more than a minute to fail these.
  for (let times = 0; times < 12; times++) await expect(rows(db, sql`select 1 as n`)).rejects.toThrow()
  await close()
})
