import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestPostgres } from '../../e2e/parts/databases.ts'
import type { DatabaseHandle } from '../db/database.ts'
import { migrate } from '../db/migrate.ts'
import { openEmbedded } from '../db/open-embedded.ts'
import { createLogger } from '../log.ts'
import { openQueue, type Queue } from './open-queue.ts'

const log = createLogger('silent')

async function embedded() {
  const database = await openEmbedded('memory')
  await migrate(database.db)
  return { database: database as DatabaseHandle, databaseUrl: undefined }
}

async function postgres() {
  const database = await openTestPostgres()
  return { database: database as DatabaseHandle, databaseUrl: database.url }
}

describe.each([
  ['embedded', embedded],
  ['PostgreSQL', postgres],
] as const)('the queue, %s', (_, open) => {
  let database: DatabaseHandle
  let queue: Queue
  const got: { n: number }[] = []
  let arrived = (_: { n: number }) => {}

  beforeAll(async () => {
    const opened = await open()
    database = opened.database
    queue = await openQueue(database, { databaseUrl: opened.databaseUrl, worker: true, log })
    await queue.work<{ n: number }>('mail', 2, async (data) => {
      got.push(data)
      arrived(data)
    })
  })
  afterAll(async () => {
    await queue.stop()
    await database.close()
  })

  it('brings a job to the worker when the transaction commits, and none when it rolls back', async () => {
    const done = new Promise<{ n: number }>((resolve) => {
      arrived = resolve
    })
    const rolledBack = database.db.transaction(async (tx) => {
      await queue.enqueue(tx, 'mail', { n: 1 })
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    await database.db.transaction((tx) => queue.enqueue(tx, 'mail', { n: 2 }))
    expect(await done).toEqual({ n: 2 })
    expect(got).toEqual([{ n: 2 }])
  })
})
