import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freezablePostgres, type PostgresServer, startOwnPostgres } from '../../../test/support/postgres.ts'
import { runRequest } from '../kernel/request-context.ts'
import { createLogger } from '../log/log.ts'
import { type DatabaseHandle, rows } from './database.ts'
import { isOutage } from './faults.ts'
import { openPostgres } from './open-postgres.ts'
import { createOutages } from './outages.ts'

const LONGER_THAN_A_CONNECTION_MAY_TAKE_MS = 2100

/** Blocks this process, as if it were rendering a large page or getting no CPU time. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

describe('a frozen PostgreSQL server', () => {
  let postgres: Awaited<ReturnType<typeof freezablePostgres>>
  let handle: DatabaseHandle
  const lines: { msg: string }[] = []
  const outages = createOutages()
  const log = createLogger('info', {
    write: (line) => void lines.push(JSON.parse(line)),
    explains: outages.explains,
  })
  beforeAll(async () => {
    postgres = await freezablePostgres()
    handle = openPostgres({ address: postgres.url, outages: { watch: outages, log } })
  })
  afterEach(() => postgres.thaw())
  afterAll(async () => {
    await handle?.close()
    await postgres?.stop()
  })
  const inRequest = <Result>(work: () => Promise<Result>, failsSoon = true) =>
    runRequest({ id: 'a', traceparent: undefined, notes: {}, failsSoon }, work)
  const one = () => rows<{ n: number }>(handle.db, sql`select 1 as n`)
  const inTransaction = () => handle.db.transaction((tx) => rows(tx, sql`select 1 as n`))
  const faultOf = (work: Promise<unknown>) => work.then(() => 'none', isOutage)

  it('fails statements that a request waits for, inside or outside a transaction, and works again after the outage', async () => {
    expect(await inRequest(one)).toEqual([{ n: 1 }])
    const middle = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const halfway = inRequest(() =>
      handle.db.transaction(async (tx) => {
        await tx.execute(sql`select 1`)
        begun.resolve()
        await middle.promise
        await tx.execute(sql`select 1`)
      }),
    )
    const told = faultOf(halfway)
    await begun.promise
    await postgres.freeze()
    middle.resolve()
    const patient = inRequest(one, false)
    expect(await Promise.all([told, faultOf(inRequest(one)), faultOf(inRequest(inTransaction))])).toEqual([
      ...[true, true, true],
    ])
    // The outage is known by now, so these statements are not even sent.
    expect(await faultOf(inRequest(one))).toBe(true)
    expect(await faultOf(inRequest(inTransaction))).toBe(true)
    log.error({ err: await inRequest(one).catch((error: unknown) => error) }, 'a request failed')
    postgres.thaw()
    expect(await patient).toEqual([{ n: 1 }])
    await expect.poll(() => faultOf(inRequest(inTransaction))).toBe('none')
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the database is not responding',
      'the database is responding again',
    ])
    const open = sql`select count(*)::int as n from pg_stat_activity where state like 'idle in transaction%'`
    await expect.poll(() => rows(handle.db, open)).toEqual([{ n: 0 }])
  })

  it('is not considered down if only one statement is slow', async () => {
    const quick = createOutages({ suspectAfterMs: 10, answerWithinMs: 10_000, askEveryMs: 10 })
    const before = lines.length
    const other = openPostgres({ address: postgres.url, outages: { watch: quick, log } })
    const slow = sql`select pg_sleep(0.3)::text as n`
    expect(await inRequest(() => rows(other.db, slow))).toEqual([{ n: '' }])
    expect(lines.length).toBe(before)
    await other.close()
  })

  it('is not considered down if this process is too busy to open a connection', {
    tags: 'long',
  }, async () => {
    const busy = openPostgres({ address: postgres.url, outages: { watch: createOutages(), log } })
    const before = lines.length
    const told = faultOf(inRequest(() => rows(busy.db, sql`select 1 as n`)))
    for (let turn = 0; turn < 4; turn++) {
      await new Promise(setImmediate)
      block(LONGER_THAN_A_CONNECTION_MAY_TAKE_MS)
    }
    expect(await told).toBe('none')
    expect(lines.length).toBe(before)
    await busy.close()
  })

  it('logs the original failure if the database responds when it is checked', async () => {
    const calm = createOutages()
    calm.watch({ ask: () => handle.reach() })
    const told = Promise.withResolvers<string>()
    const fault = Object.assign(new Error('reset'), { code: 'ECONNRESET', query: 'select 1' })
    createLogger('info', { write: told.resolve, explains: calm.explains }).error({ err: fault }, 'a blip')
    expect(await told.promise).toContain('a blip')
    calm.close()
  })
})

describe('a database that accepts no writes', { tags: 'long' }, () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startOwnPostgres()
  })
  afterAll(() => postgres.stop())

  it('is considered down until it accepts writes, even by later statements in a transaction, and is reported once', async () => {
    const admin = openPostgres({ address: postgres.url, maxConnections: 1 })
    await admin.db.execute(sql`create table numbers (n int)`)
    await admin.db.execute(sql`alter database postgres set default_transaction_read_only = on`)
    const told = Promise.withResolvers<void>()
    const lines: { msg: string; why?: string }[] = []
    const watch = createOutages()
    const log = createLogger('info', {
      write(line) {
        lines.push(JSON.parse(line))
        if (lines.length === 2) told.resolve()
      },
      explains: watch.explains,
    })
    const { db, close } = openPostgres({ address: postgres.url, outages: { watch, log } })
    const write = () => db.execute(sql`insert into numbers values (1)`)
    const writeTwice = () =>
      db.transaction(async (tx) => {
        await tx.execute(sql`insert into numbers values (1)`).catch(() => {})
        await tx.execute(sql`insert into numbers values (2)`)
      })
    for (const fault of await Promise.all(
      [write(), writeTwice()].map((work) => work.catch((error) => error)),
    )) {
      expect(isOutage(fault)).toBe(true)
      log.error({ err: fault }, 'a request failed')
      expect(await watch.explains(fault)).toBe(true)
    }
    await admin.db.execute(sql`set default_transaction_read_only = off`)
    await admin.db.execute(sql`alter database postgres reset default_transaction_read_only`)
    await told.promise
    // Some of these use connections that were opened during the outage.
    await Promise.all(Array.from({ length: 8 }, write))
    expect(lines).toMatchObject([
      { msg: 'the database is not responding', why: expect.stringContaining('accepts no writes') },
      { msg: 'the database is responding again' },
    ])
    await close()
    await admin.close()
  })
})
