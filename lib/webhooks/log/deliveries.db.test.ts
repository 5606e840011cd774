import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { attempts, deliveries, events, tallies, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { type Receiver, startReceiver } from '../../../test/support/receiver.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addOutput } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { RETRY_DELAYS_MS } from '../../platform/kernel/retry-schedule.ts'
import { deliveryQuery, listDeliveries } from './list-deliveries.ts'
import { resendDelivery, resendFailed } from './resend.ts'
import { sendTestEvent } from './send-test-event.ts'
import { showDelivery } from './show-delivery.ts'

const DAY = 86_400_000

describeWithDatabase('deliveries', (database) => {
  let runtime: TestRuntime
  let customer: TestWorkspace
  let receiver: Receiver
  let output: Awaited<ReturnType<typeof addOutput>>
  let worker: ReturnType<typeof dispatching>

  beforeEach(async () => {
    runtime = testRuntime(database())
    receiver = await startReceiver()
    customer = await createTestWorkspace(runtime)
    output = await addOutput(runtime.db, receiver.url, {
      workspaceId: customer.workspaceId,
      pipeId: customer.pipe.id,
    })
    worker = dispatching(runtime)
  })
  afterEach(() => receiver.stop())

  const list = (query: object = {}) =>
    listDeliveries(runtime, customer.actor, parseInput(deliveryQuery, query))
  const only = async () => (await list()).data[0]!

  it('are listed newest first, by page, and filtered', async () => {
    const files: string[] = []
    for (let n = 0; n < 5; n++) {
      files.push(await worker.event(output))
      runtime.clock.advance(1000)
    }
    const first = await list({ limit: '2' })
    const second = await list({ limit: '2', cursor: first.nextCursor! })
    const third = await list({ limit: '2', cursor: second.nextCursor! })
    expect([...first.data, ...second.data, ...third.data].map(({ fileId }) => fileId)).toEqual(
      files.toReversed(),
    )
    expect(third.nextCursor).toBeNull()
    receiver.answerWith(500)
    await worker.work()
    expect((await list({ state: 'pending' })).data).toHaveLength(5)
    expect((await list({ state: 'delivered' })).data).toEqual([])
    expect((await list({ fileId: files[2] })).data).toHaveLength(1)
    expect((await list({ pipeId: 'pipe_other' })).data).toEqual([])
    const [newest] = first.data
    expect((await list({ since: newest!.createdAt })).data.map(({ id }) => id)).toEqual([newest!.id])
    expect((await list({ until: newest!.createdAt })).data).toHaveLength(4)
  })

  it('show what was sent and the response', async () => {
    receiver.answerWith((_, res) => res.writeHead(500, { 'X-A': 'b' }).end('broken'))
    await worker.event(output)
    expect(await only()).toMatchObject({
      state: 'pending',
      attempts: [],
      nextAttemptAt: new Date(runtime.clock.now()).toISOString(),
    })
    await worker.work()
    expect(await only()).toMatchObject({ attempts: [{ status: 500, error: 'status', trigger: 'auto' }] })
    const whole = await showDelivery(runtime, customer.actor, (await only()).id)
    expect(whole).toMatchObject({
      state: 'pending',
      nextAttemptAt: new Date(runtime.clock.now() + 5000).toISOString(),
      requestBody: receiver.received[0]!.body,
      attempts: [
        {
          at: new Date(runtime.clock.now()).toISOString(),
          status: 500,
          responseBody: 'broken',
          responseHeaders: { 'x-a': 'b' },
          requestHeaders: { 'User-Agent': 'Sluice-Webhooks/1.0' },
        },
      ],
    })
  })

  it('can be resent one by one, even if they were delivered', async () => {
    await worker.event(output)
    await worker.work()
    const { id } = await only()
    expect(await resendDelivery(runtime, customer.actor, id)).toMatchObject({ state: 'pending' })
    await worker.work()
    expect(await only()).toMatchObject({
      state: 'delivered',
      attempts: [{ trigger: 'auto' }, { trigger: 'manual' }],
    })
    expect(receiver.received.map(({ body }) => body)).toEqual(Array(2).fill(receiver.received[0]!.body))
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    const counted = await runtime.db.select().from(tallies).where(eq(tallies.what, 'delivered'))
    expect(counted.filter(({ workspaceId }) => workspaceId === customer.workspaceId)).toHaveLength(1)
  })

  it('restart the schedule when a resend fails', async () => {
    receiver.answerWith(500)
    await worker.event(output)
    await worker.work()
    for (const delay of RETRY_DELAYS_MS) await worker.later(delay + 5000)
    expect(await only()).toMatchObject({ state: 'failed' })
    runtime.clock.advance(1)
    await resendDelivery(runtime, customer.actor, (await only()).id)
    await worker.work()
    const later = await only()
    expect(later).toMatchObject({
      state: 'pending',
      nextAttemptAt: new Date(runtime.clock.now() + 5000).toISOString(),
    })
    expect(later.attempts.at(-1)).toMatchObject({ trigger: 'manual' })
  })

  it('are not resent while an attempt is in progress or the output is off', async () => {
    await worker.event(output)
    await worker.work()
    const { id } = await only()
    const held = { claimedUntil: new Date(runtime.clock.now() + 1000) }
    await runtime.db.update(deliveries).set(held).where(eq(deliveries.id, id))
    expect(await only()).toMatchObject({ underWay: true, nextAttemptAt: null })
    await expect(resendDelivery(runtime, customer.actor, id)).rejects.toMatchObject({ code: 'conflict' })
    runtime.clock.advance(1000)
    await runtime.db.update(webhookOutputs).set({ enabled: false }).where(eq(webhookOutputs.id, output.id))
    await expect(resendDelivery(runtime, customer.actor, id)).rejects.toThrow(/is off/)
  })

  it('are limited in how often they are resent, like tests', { tags: 'long' }, async () => {
    const { id } = await sendTestEvent(runtime, customer.actor, { firstOf: customer.pipe.id })
    const since = new Date(runtime.clock.now())
    const limited: [() => Promise<unknown>, number][] = [
      [() => sendTestEvent(runtime, customer.actor, { firstOf: customer.pipe.id }), 29],
      [() => resendDelivery(runtime, customer.actor, id), 100],
      [() => resendFailed(runtime, customer.actor, { since }), 10],
    ]
    for (const [verb, times] of limited) {
      for (let n = 0; n < times; n++) await verb()
      await expect(verb()).rejects.toMatchObject({ code: 'rate_limited' })
    }
    runtime.clock.advance(10_000)
    for (const [verb] of limited) await verb()
  })

  it('can be resent together if they failed since a given time', async () => {
    await runtime.db.update(webhookOutputs).set({ enabled: true }).where(eq(webhookOutputs.id, output.id))
    const give = async () => {
      const fileId = await worker.event(output)
      await runtime.db
        .update(deliveries)
        .set({ state: 'failed', nextAttemptAt: null })
        .where(eq(deliveries.fileId, fileId))
      runtime.clock.advance(60_000)
      return fileId
    }
    const [before, one, two] = [await give(), await give(), await give()]
    const delivered = await worker.event(output)
    await worker.work()
    expect(receiver.received).toHaveLength(1)
    const since = new Date(runtime.clock.now() - 120_000)
    const other = await createTestWorkspace(runtime)
    expect(await resendFailed(runtime, other.actor, { since })).toEqual({ resent: 0, more: false })
    expect(await resendFailed(runtime, customer.actor, { since, pipeId: customer.pipe.id })).toEqual({
      resent: 2,
      more: false,
    })
    await worker.work()
    const states = Object.fromEntries((await list()).data.map(({ fileId, state }) => [fileId, state]))
    expect(states).toEqual({
      [before]: 'failed',
      [one]: 'delivered',
      [two]: 'delivered',
      [delivered]: 'delivered',
    })
    expect(receiver.received).toHaveLength(3)
    await expect(
      resendFailed(runtime, other.actor, { since, pipeId: customer.pipe.id }),
    ).rejects.toMatchObject({ code: 'pipe_not_found' })
  })

  it('are marked, sent even while the output is off, and tried once if they are tests', async () => {
    await runtime.db.update(webhookOutputs).set({ enabled: false }).where(eq(webhookOutputs.id, output.id))
    receiver.answerWith(410)
    const sent = await sendTestEvent(runtime, customer.actor, { firstOf: customer.pipe.id })
    expect(sent).toMatchObject({ test: true, state: 'pending', fileId: null })
    await worker.work()
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({
      test: true,
      event: 'file.status_changed',
      id: sent.eventId,
      data: { pipe_id: customer.pipe.id },
    })
    expect(await only()).toMatchObject({ state: 'failed', attempts: [{ trigger: 'test', status: 410 }] })
    const [row] = await runtime.db.select().from(webhookOutputs).where(eq(webhookOutputs.id, output.id))
    expect(row).toMatchObject({ turnedOffAt: null, failingSince: null })
    receiver.answerWith(204)
    await resendDelivery(runtime, customer.actor, sent.id)
    await worker.work()
    expect(await only()).toMatchObject({
      state: 'delivered',
      attempts: [{ trigger: 'test' }, { trigger: 'test' }],
    })
  })

  it('are not found from another workspace', async () => {
    await worker.event(output)
    const { id } = await only()
    const { actor } = await createTestWorkspace(runtime)
    const absent = { code: 'not_found' }
    await expect(showDelivery(runtime, actor, id)).rejects.toMatchObject(absent)
    await expect(resendDelivery(runtime, actor, id)).rejects.toMatchObject(absent)
    await expect(showDelivery(runtime, customer.actor, 'no-uuid')).rejects.toMatchObject(absent)
    expect((await listDeliveries(runtime, actor, parseInput(deliveryQuery, {}))).data).toEqual([])
  })

  it('can be resent for 30 days', async () => {
    await worker.event(output)
    await worker.work()
    const { id, createdAt } = await only()
    const failed = { state: 'failed', nextAttemptAt: null } as const
    const resendAll = () => resendFailed(runtime, customer.actor, { since: new Date(createdAt) })
    runtime.clock.advance(30 * DAY)
    await runtime.db.update(deliveries).set(failed)
    expect(await resendAll()).toMatchObject({ resent: 1 })
    expect(await resendDelivery(runtime, customer.actor, id)).toMatchObject({ state: 'pending' })
    runtime.clock.advance(1)
    await runtime.db.update(deliveries).set(failed)
    expect(await resendAll()).toMatchObject({ resent: 0 })
    await expect(resendDelivery(runtime, customer.actor, id)).rejects.toThrow(/30 days old/)
  })

  it('are deleted with their event, along with their attempts', async () => {
    const fileId = await worker.event(output)
    await worker.work()
    const { id } = await only()
    await runtime.db.delete(events).where(eq(events.fileId, fileId))
    expect(await runtime.db.select().from(deliveries).where(eq(deliveries.id, id))).toEqual([])
    expect(await runtime.db.select().from(attempts).where(eq(attempts.deliveryId, id))).toEqual([])
  })
})
