import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { createLogger } from './log/log.ts'
import { openQueue, type Queue } from './queue.ts'

const log = createLogger('silent')

describeWithDatabase('the queue', (database) => {
  let queue: Queue
  const got: { n: number }[] = []
  let arrived = (_: { n: number }) => {}

  beforeAll(async () => {
    queue = await openQueue(database(), { worker: true, log })
    await queue.work<{ n: number }>('mail', 2, async (data) => {
      got.push(data)
      arrived(data)
    })
  })
  afterAll(async () => {
    await queue.stop()
  })

  it('delivers a job to the worker when the transaction commits, and none when it rolls back', async () => {
    const done = new Promise<{ n: number }>((resolve) => {
      arrived = resolve
    })
    const rolledBack = database().db.transaction(async (tx) => {
      await queue.enqueue(tx, 'mail', { n: 1 })
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    await database().db.transaction((tx) => queue.enqueue(tx, 'mail', { n: 2 }))
    expect(await done).toEqual({ n: 2 })
    expect(got).toEqual([{ n: 2 }])
  })
})
