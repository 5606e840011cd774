import { expect, it } from 'vitest'
import { deliveries, events, uploadTails } from '#drizzle/schema/index.ts'
import { hours, minutes } from '../lib/platform/kernel/clock.ts'
import { uuidv7 } from '../lib/platform/kernel/ids.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { openQueue } from '../lib/platform/queue.ts'
import { describeWithDatabase } from '../test/support/databases.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { addFile, addOutput } from '../test/support/webhook-rows.ts'
import { measureBacklog } from './measure-backlog.ts'

describeWithDatabase('the backlog', (database) => {
  it('is measured by age, queue and status', async () => {
    const { db } = database()
    const runtime = testRuntime(database())
    const now = runtime.clock.now()
    const queue = await openQueue(database(), { worker: false, log: createLogger('silent') })
    await queue.enqueueAll(db, 'mail', [{ data: {} }, { data: {} }])
    const output = await addOutput(db, 'https://hooks.example.com/a')
    const tailed = async (status: 'uploading' | 'transferring', agoMs: number) => {
      const lastByteAt = new Date(now - agoMs)
      const fileId = await addFile(db, output, { status, lengthBytes: 11, offsetBytes: 5, lastByteAt })
      await db.insert(uploadTails).values({ fileId, offsetBytes: 0, bytes: Buffer.alloc(1) })
    }
    await tailed('uploading', hours(2))
    await tailed('uploading', hours(3))
    await tailed('transferring', minutes(4))
    const fileId = await addFile(db, output)
    const waiting = async (agoMs: number, dueMs: number, state: 'pending' | 'delivered' = 'pending') => {
      const { workspaceId, pipeId } = output
      const [eventId, createdAt] = [uuidv7(), new Date(now - agoMs)]
      await db.insert(events).values({ id: eventId, workspaceId, pipeId, fileId, payload: '{}', createdAt })
      const of = { workspaceId, pipeId, fileId, eventId, webhookOutputId: output.id, url: 'https://h' }
      const nextAttemptAt = new Date(now + dueMs)
      await db.insert(deliveries).values({ id: uuidv7(), ...of, state, nextAttemptAt, createdAt })
    }
    await waiting(minutes(2), minutes(-1))
    await waiting(minutes(3), minutes(5))
    await waiting(hours(30), minutes(5))
    await waiting(hours(30), hours(-9), 'delivered')
    await measureBacklog(runtime)
    const { metrics } = runtime
    const of = async (gauge: { get(): Promise<{ values: { labels: object; value: number }[] }> }) =>
      (await gauge.get()).values.map(({ labels, value }) => [Object.values(labels)[0], value])
    const byName = async (...args: Parameters<typeof of>) => Object.fromEntries(await of(...args))
    expect(await byName(metrics.deliveriesPending)).toEqual({ minute: 0, hour: 2, day: 0, older: 1 })
    expect(await of(metrics.deliveriesOldestDue)).toEqual([[undefined, 60]])
    expect(await byName(metrics.queueJobs)).toEqual({ 'webhook-attempt': 0, mail: 2 })
    expect(await byName(metrics.uploadsUnfinished)).toEqual({ uploading: 2, transferring: 1 })
    expect(await byName(metrics.tailOldest)).toEqual({ uploading: 3 * 3600, transferring: 240 })
    const { busy, idle } = await byName(metrics.databaseConnections)
    const [[, limit]] = (await of(metrics.databaseConnectionsLimit)) as [[undefined, number]]
    expect(busy).toBeGreaterThan(0)
    expect(busy + idle).toBeLessThanOrEqual(limit)
    expect(await of(metrics.backlogMeasured)).toEqual([[undefined, now / 1000]])
    await queue.stop()
  })
})
