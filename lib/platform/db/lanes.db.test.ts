import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { blocked, holdTransaction } from '../../../test/support/databases.ts'
import { createDatabase } from '../../../test/support/postgres.ts'
import { runRequest } from '../kernel/request-context.ts'
import { type DatabaseHandle, type Db, rows } from './database.ts'
import { isTooSlow } from './faults.ts'
import { lanesOf } from './lanes.ts'
import { openPostgres } from './open-postgres.ts'

it.each([
  [['upload', 'web', 'worker'], 20, { upload: 8, request: 5, background: 7 }],
  [['upload'], 5, { upload: 3, background: 2 }],
  [['worker'], 10, { background: 10 }],
  [[], 1, { background: 1 }],
] as const)('a process with the roles %j divides %i connections', (roles, all, expected) => {
  const lanes = lanesOf(new Set(roles), all)
  expect(Object.fromEntries(lanes.map(({ kind, connections }) => [kind, connections]))).toEqual(expected)
})

describe('database connections', () => {
  let handle: DatabaseHandle & { drop(): Promise<void> }
  beforeAll(async () => {
    const { url, drop } = await createDatabase(inject('postgresUrl'))
    handle = {
      ...openPostgres({ address: url, maxConnections: 12, roles: new Set(['upload', 'web']) }),
      drop,
    }
    await handle.usePooler()
  })
  afterAll(async () => {
    await handle?.close()
    await handle?.drop()
  })

  type Request = { failsSoon?: boolean; left?: AbortSignal }
  const inRequest = <Result>(
    workspaceId: string,
    work: () => Result,
    request: Request = { failsSoon: true },
  ) => runRequest({ id: 'a', traceparent: undefined, notes: { workspaceId }, ...request }, work)
  const one = (db: Db) => rows<{ n: number }>(db, sql`select 1 as n`)
  const share = (db: Db) => rows(db, sql`select pg_advisory_xact_lock_shared(1)`)
  const lock = () => holdTransaction(handle, (tx) => rows(tx, sql`select pg_advisory_xact_lock(1)`))

  it('stay free for another workspace, however much one of them does', async () => {
    const release = await lock()
    const slow = [...Array(20)].map(() => inRequest('a', () => share(handle.db)))
    slow.push(...[...Array(20)].map(() => inRequest('a', () => handle.db.transaction(share))))
    expect(await inRequest('b', () => one(handle.db))).toEqual([{ n: 1 }])
    expect(await inRequest('b', () => handle.db.transaction(one))).toEqual([{ n: 1 }])
    await release()
    await Promise.all(slow)
  })

  it('stay free for uploads, however many others use the API', async () => {
    const release = await lock()
    const slow = [...Array(20)].map((_, n) => inRequest(`${n}`, () => share(handle.db)))
    expect(await inRequest('1', () => one(handle.db), {})).toEqual([{ n: 1 }])
    await release()
    await Promise.all(slow)
  })

  it('are not used for a client that left while its request waited', async () => {
    const release = await lock()
    const slow = [...Array(20)].map(() => inRequest('a', () => share(handle.db)))
    await blocked(handle)
    const leaving = new AbortController()
    const waiting = inRequest('a', () => one(handle.db), { failsSoon: true, left: leaving.signal })
    leaving.abort(new Error('The client has left.'))
    await expect(waiting).rejects.toMatchObject({ cause: { message: 'The client has left.' } })
    await release()
    await Promise.all(slow)
  })

  it('end statements that take too long for their kind of work', async () => {
    const limit = (db: Db) =>
      rows<{ limit: string }>(db, sql`select current_setting('statement_timeout') as limit`)
    expect(await inRequest('a', () => limit(handle.db))).toEqual([{ limit: '5s' }])
    expect(await inRequest('a', () => limit(handle.db), {})).toEqual([{ limit: '30s' }])
    const slow = handle.db.transaction(async (tx) => {
      await rows(tx, sql`set local statement_timeout = 1`)
      await rows(tx, sql`select pg_sleep(10)`)
    })
    expect(await slow.catch(isTooSlow)).toBe(true)
  })
})
