import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { createDatabase, hasPgbouncer, startPgbouncer } from '../../../test/support/postgres.ts'
import { createLogger } from '../log/log.ts'
import { openQueue } from '../queue.ts'
import { type DatabaseHandle, notify, rows } from './database.ts'
import { openPostgres } from './open-postgres.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(mode: 'session' | 'transaction', { isDirect }: { isDirect: boolean }) {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const pooler = await startPgbouncer(url, { mode, serverConnections: 5 })
  const handle = openPostgres({ address: pooler.url, ...(isDirect && { directAddress: url }) })
  closing.push(drop, pooler.stop, handle.close)
  return handle
}

async function hears({ db, listen }: DatabaseHandle): Promise<string | null> {
  const heard = Promise.withResolvers<string | null>()
  const unlisten = await listen('a_channel', heard.resolve)
  await notify(db, 'a_channel', 'hello')
  return heard.promise.finally(unlisten)
}

it('detects no pooler on a direct connection to PostgreSQL', async () => {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ address: url })
  closing.push(drop, handle.close)
  expect(await handle.usePooler()).toBeUndefined()
})

describe.skipIf(!hasPgbouncer())('PgBouncer', () => {
  it('needs no setting if it keeps sessions', async () => {
    const handle = await open('session', { isDirect: false })
    expect(await handle.usePooler()).toBeUndefined()
    expect(await hears(handle)).toBe('hello')
  })

  it('is refused without a direct address if it does not keep sessions', async () => {
    const handle = await open('transaction', { isDirect: false })
    await expect(handle.usePooler()).rejects.toThrow(/notifications do not arrive. Set DATABASE_DIRECT_URL/)
  })

  it('serves statements if it does not keep sessions, while the direct address serves notifications and the queue', async () => {
    const handle = await open('transaction', { isDirect: true })
    expect(await handle.usePooler()).toContain('a pooler that')
    expect(await hears(handle)).toBe('hello')
    const queue = await openQueue(handle, { worker: true, log: createLogger('silent') })
    closing.push(() => queue.stop())
    const done = Promise.withResolvers<object>()
    await queue.work('mail', 1, async (data) => done.resolve(data))
    await handle.db.transaction((tx) => queue.enqueue(tx, 'mail', { n: 1 }))
    expect(await done.promise).toEqual({ n: 1 })
    // There are more statements than server connections, so several statements share each connection.
    const asked = Array.from({ length: 200 }, (_, n) => rows(handle.db, sql`select ${n}::int as n`))
    expect((await Promise.all(asked)).flat()).toEqual(asked.map((_, n) => ({ n })))
  })
})
