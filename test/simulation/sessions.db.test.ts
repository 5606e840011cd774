import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import { type Session, Sessions } from './sessions.ts'

describe('a statement that waits for a lock', () => {
  let database: TestDatabase
  let sessions: Sessions
  let asking: Session
  let node: Session
  let stranger: postgres.Sql

  beforeAll(async () => {
    const server = inject('postgresUrl')
    database = await createDatabase(server, inject('migrated'))
    sessions = await Sessions.open(database.url)
    asking = await sessions.take()
    node = await sessions.take()
    stranger = postgres(database.url, { max: 1 })
  })

  afterAll(async () => {
    await stranger.end()
    await sessions.close()
    await database.drop()
  })

  const isWaiting = async () => {
    const [found] = await sessions.own.run({
      text: 'select cardinality(pg_blocking_pids($1)) > 0 as waits',
      parameters: [asking.pid],
    })
    return found!.waits
  }

  it("is blocked by another node's session", async () => {
    await node.run({ text: 'begin' })
    await node.run({ text: 'lock table files' })
    const asked = asking.run({ text: 'select from files' })
    await expect.poll(isWaiting).toBe(true)
    expect(await sessions.blockersOf(asking)).toEqual([node.pid])
    await node.run({ text: 'rollback' })
    await asked
  })

  it('is not blocked by other sessions, such as autovacuum, whose lock no step of a node would release', async () => {
    let asked: Promise<unknown>
    await stranger.begin(async (transaction) => {
      await transaction`lock table files`
      asked = asking.run({ text: 'select from files' })
      await expect.poll(isWaiting).toBe(true)
      expect(await sessions.blockersOf(asking)).toEqual([])
    })
    await asked!
  })
})

it('keeps a session for as long as a run of many seeds, because replacing it would roll back its transaction', async () => {
  vi.stubEnv('PGMAX_LIFETIME', '0.05')
  const database = await createDatabase(inject('postgresUrl'), inject('migrated'))
  const sessions = await Sessions.open(database.url)
  const session = await sessions.take()
  await session.run({ text: 'begin' })
  await session.run({ text: 'select pg_sleep(0.1)' })
  expect(await session.run({ text: 'select pg_backend_pid() as pid' })).toEqual([{ pid: session.pid }])
  await sessions.close()
  await database.drop()
  vi.unstubAllEnvs()
})
