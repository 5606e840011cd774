import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { events, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { type Receiver, startReceiver } from '../../../test/support/receiver.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addDestination, addFile, addOutput } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { eraseFile } from '../../dashboard/files/act-on-files.ts'
import { days } from '../../platform/kernel/clock.ts'
import { discardMissed, sendMissed, showMissed } from './missed-events.ts'

describeWithDatabase('events that were not sent', (database) => {
  let runtime: TestRuntime
  let customer: TestWorkspace
  let receiver: Receiver
  let worker: ReturnType<typeof dispatching>
  beforeEach(async () => {
    runtime = testRuntime(database())
    customer = await createTestWorkspace(runtime)
    receiver = await startReceiver()
    worker = dispatching(runtime)
  })
  afterEach(() => receiver.stop())

  const place = () => ({ workspaceId: customer.workspaceId, pipeId: customer.pipe.id })
  const switchOn = (enabled = true) => addOutput(runtime.db, receiver.url, { ...place(), enabled })
  const show = () => showMissed(runtime, customer.actor, { firstOf: customer.pipe.id })
  const send = (since?: Date) => sendMissed(runtime, customer.actor, { firstOf: customer.pipe.id }, { since })
  const end = async (fields = {}) => {
    const fileId = await addFile(runtime.db, place(), fields)
    await addDestination(runtime.db, customer.workspaceId, fileId)
    await worker.emit(fileId)
    runtime.clock.advance(60_000)
    return fileId
  }
  const bodies = () => receiver.received.map(({ body }) => JSON.parse(body))

  it('are sent once each when the output is on, with the time at which they happened', async () => {
    const happened = new Date(runtime.clock.now())
    const files = [await end(), await end()]
    expect(await show()).toEqual({ events: 2, more: false, since: happened.toISOString() })
    await switchOn()
    expect(await send()).toEqual({ sent: 2, more: false })
    expect(await show()).toEqual({ events: 0, more: false, since: null })
    expect(await send()).toEqual({ sent: 0, more: false })
    await worker.work()
    expect(bodies().map(({ data }) => data.file_id)).toEqual(expect.arrayContaining(files))
    expect(bodies()).toHaveLength(2)
    const first = bodies().find(({ data }) => data.file_id === files[0])
    expect(first).toMatchObject({
      timestamp: happened.toISOString(),
      data: { status: 'transferred', size: 11, destinations: [{ status: 'transferred' }] },
    })
    const [event] = await runtime.db.select().from(events).where(eq(events.fileId, files[0]!))
    expect(event).toMatchObject({ id: first.id, createdAt: happened, missedStatus: null })
    expect(receiver.received.map(({ body }) => body)).toContain(event!.payload)
  })

  it('are only those that the output subscribes to, from a given time', async () => {
    await switchOn(false)
    await expect(send()).rejects.toMatchObject({ code: 'conflict' })
    await end({ status: 'canceled', offsetBytes: 5 })
    await end()
    const later = new Date(runtime.clock.now())
    const wanted = await end()
    expect(await show()).toMatchObject({ events: 2 })
    await runtime.db
      .update(webhookOutputs)
      .set({ enabled: true })
      .where(eq(webhookOutputs.pipeId, customer.pipe.id))
    expect(await send(later)).toEqual({ sent: 1, more: false })
    await worker.work()
    expect(bodies().map(({ data }) => data.file_id)).toEqual([wanted])
    await runtime.db
      .update(webhookOutputs)
      .set({ statuses: ['transferred', 'canceled'] })
      .where(eq(webhookOutputs.pipeId, customer.pipe.id))
    expect(await show()).toMatchObject({ events: 2 })
  })

  it("are deleted when discarded, when their file's record is erased, and after 30 days", async () => {
    const file = await end()
    await eraseFile(runtime, customer.actor, file)
    expect(await show()).toMatchObject({ events: 0 })
    await end()
    await discardMissed(runtime, customer.actor, { firstOf: customer.pipe.id })
    expect(await show()).toMatchObject({ events: 0 })
    await end()
    runtime.clock.advance(days(30) + 1)
    expect(await show()).toMatchObject({ events: 0 })
  })

  it('are not found from another workspace', async () => {
    await end()
    await switchOn()
    const { actor } = await createTestWorkspace(runtime)
    for (const verb of [showMissed, discardMissed])
      await expect(verb(runtime, actor, { firstOf: customer.pipe.id })).rejects.toMatchObject({
        code: 'pipe_not_found',
      })
    await expect(sendMissed(runtime, actor, { firstOf: customer.pipe.id }, {})).rejects.toMatchObject({
      code: 'pipe_not_found',
    })
    expect(await show()).toMatchObject({ events: 1 })
  })
})
