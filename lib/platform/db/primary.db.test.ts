import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresPair, startPair } from '../../../test/support/postgres.ts'
import { createLogger } from '../log/log.ts'
import { openQueue } from '../queue.ts'
import { rows } from './database.ts'
import { openPostgres } from './open-postgres.ts'
import { createOutages } from './outages.ts'
import { standbyOf } from './primary.ts'

let pair: PostgresPair
beforeAll(async () => {
  pair = await startPair({ synchronous: false })
})
afterAll(() => pair.stop())

it('switches to a promoted standby', async () => {
  const watch = createOutages()
  const lines: { msg: string }[] = []
  const log = createLogger('info', {
    write: (line) => void lines.push(JSON.parse(line)),
    explains: watch.explains,
  })
  const handle = openPostgres({ address: pair.url(), outages: { watch, log } })
  const { db } = handle
  const write = async (n: number) => void (await rows(db, sql`insert into told values (${n}::int)`))
  const told = () => rows<{ n: number }>(db, sql`select n from told order by n`)
  await db.execute(sql`create table told (n int primary key)`)
  await write(1)
  const here = sql`select from pg_stat_replication where replay_lsn = pg_current_wal_lsn()`
  await expect.poll(async () => (await rows(db, here)).length).toBe(1)
  const queue = await openQueue(handle, { worker: true, log })
  await queue.work('mail', 2, async () => {})
  expect(await standbyOf(db)).toBe('asynchronous')
  pair.freezePrimary()
  await expect(handle.reach()).rejects.not.toMatchObject({ code: '25006' })
  expect(await told()).toEqual([{ n: 1 }])
  pair.thawPrimary()

  await pair.cutLine()
  await write(2)
  await pair.killPrimary()
  await expect(told()).rejects.toThrow()
  await expect.poll(() => lines.map(({ msg }) => msg)).toEqual(['the database is not responding'])
  await pair.promote()

  // The second commit had not reached the standby.
  await expect.poll(() => told().catch(() => [])).toEqual([{ n: 1 }])
  await write(3)
  expect(await told()).toEqual([{ n: 1 }, { n: 3 }])
  await expect
    .poll(() => lines.map(({ msg }) => msg))
    .toEqual(['the database is not responding', 'the database is responding again'])
  expect(await standbyOf(db)).toBe('none')
  await queue.stop()
  await handle.close()
})
