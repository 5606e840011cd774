import type { ServerResponse } from 'node:http'
import { eq, sql } from 'drizzle-orm'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { attempts, auditLog, deliveries, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { type Receiver, startReceiver } from '../../../test/support/receiver.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addOutput } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { rows } from '../../platform/db/database.ts'
import { RETRY_DELAYS_MS } from '../../platform/kernel/retry-schedule.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { sweepAlerts } from '../../workspace/notices/sweep-alerts.ts'
import { previousSecretPlace } from '../outputs/signing-secrets.ts'
import { type Claimed, claimDeliveries } from './claim.ts'
import { type Attempt, decide } from './deliver.ts'
import { recordAttempts } from './record.ts'

const HOUR = 3_600_000
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
/** The sweep leaves recently due deliveries to their job. */
const GRACE = 5000

describeWithDatabase('delivery', (database) => {
  let runtime: TestRuntime
  let receiver: Receiver

  beforeEach(async () => {
    runtime = testRuntime(database())
    receiver = await startReceiver()
  })
  afterEach(() => receiver.stop())

  const deliveryOf = async (fileId: string) => {
    const [delivery] = await runtime.db.select().from(deliveries).where(eq(deliveries.fileId, fileId))
    const log = await runtime.db
      .select()
      .from(attempts)
      .where(eq(attempts.deliveryId, delivery!.id))
      .orderBy(attempts.id)
    return { ...delivery!, attempts: log }
  }
  const outputRow = async (id: string) =>
    (await runtime.db.select().from(webhookOutputs).where(eq(webhookOutputs.id, id)))[0]!

  const attemptOf = (claimed: Claimed, status: number, atMs: number): Attempt => {
    const outcome = { status, headers: {}, body: '' }
    const output = claimed.output!
    const decision = decide(outcome, { ...claimed, failingSince: output.failingSince }, atMs, 0.5)
    return { claimed: { ...claimed, output }, atMs, durationMs: 1, requestHeaders: {}, outcome, decision }
  }

  it('delivers, and stores what both sides sent', async () => {
    const { event, work } = dispatching(runtime)
    const output = await addOutput(runtime.db, receiver.url)
    receiver.answerWith((_, res) => res.writeHead(200, { 'X-Request': 'r-1' }).end('thank you'))
    const named = { lastRequestId: 'a-request', lastTraceparent: TRACEPARENT }
    const fileId = await event(output, named)
    await work()

    const [request] = receiver.received
    const delivery = await deliveryOf(fileId)
    expect(request!.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Sluice-Webhooks/1.0',
      'x-request-id': 'a-request',
      traceparent: TRACEPARENT,
      'webhook-id': delivery.eventId,
      'webhook-timestamp': String(runtime.clock.now() / 1000),
      'x-service-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    })
    expect(JSON.parse(request!.body)).toMatchObject({
      id: delivery.eventId,
      event: 'file.status_changed',
      data: { file_id: fileId },
    })
    expect(delivery).toMatchObject({
      state: 'delivered',
      attemptCount: 1,
      nextAttemptAt: null,
      claimedBy: null,
      lastStatus: 200,
      lastError: null,
    })
    expect(delivery.attempts).toMatchObject([
      {
        trigger: 'auto',
        status: 200,
        error: null,
        responseBody: 'thank you',
        responseHeaders: { 'x-request': 'r-1' },
        url: receiver.url,
      },
    ])
    expect(delivery.attempts[0]!.requestHeaders).toMatchObject({ 'webhook-id': delivery.eventId })
  })

  it('retries on the schedule, with the same id and bytes, and then gives up', async () => {
    const { event, work, later } = dispatching(runtime)
    receiver.answerWith(500)
    const output = await addOutput(runtime.db, receiver.url)
    const fileId = await event(output)
    await work()
    for (const [n, delay] of RETRY_DELAYS_MS.entries()) {
      await later(delay - 1)
      expect(receiver.received).toHaveLength(n + 1)
      await later(GRACE + 1)
      expect(receiver.received).toHaveLength(n + 2)
    }
    expect(new Set(receiver.received.map(({ body, headers }) => body + headers['webhook-id'])).size).toBe(1)
    const delivery = await deliveryOf(fileId)
    expect(delivery).toMatchObject({
      state: 'failed',
      attemptCount: 11,
      nextAttemptAt: null,
      lastStatus: 500,
      lastError: 'status',
    })
    expect(delivery.attempts).toHaveLength(11)
    await later(99 * HOUR)
    expect(receiver.received).toHaveLength(11)
  })

  it('creates a job for a retry that is due soon', async () => {
    const { event, work } = dispatching(runtime)
    receiver.answerWith(500)
    const output = await addOutput(runtime.db, receiver.url)
    await event(output)
    await work()
    expect(runtime.jobs).toEqual([
      { queue: 'webhook-attempt', data: { outputId: output.id, workspaceId: output.workspaceId } },
    ])
  })

  it('delivers after a failure, and forgets that the output was failing', async () => {
    const { event, work, later } = dispatching(runtime)
    receiver.answerWith(503)
    const output = await addOutput(runtime.db, receiver.url)
    const fileId = await event(output)
    await work()
    expect((await outputRow(output.id)).failingSince).toEqual(new Date(runtime.clock.now()))
    receiver.answerWith(204)
    await later(11_000)
    expect(await deliveryOf(fileId)).toMatchObject({ state: 'delivered', attemptCount: 2 })
    expect((await outputRow(output.id)).failingSince).toBeNull()
  })

  it('forgets that an output was failing after a success that was in flight before the failure', async () => {
    const { event, work } = dispatching(runtime)
    const output = await addOutput(runtime.db, receiver.url)
    const answers: ServerResponse[] = []
    receiver.answerWith((_, res) => void answers.push(res))
    await event(output)
    await event(output)
    const working = work()
    await receiver.gets(2)
    answers[0]!.writeHead(503).end()
    await expect.poll(async () => (await outputRow(output.id)).failingSince).not.toBeNull()
    answers[1]!.writeHead(204).end()
    await working
    expect((await outputRow(output.id)).failingSince).toBeNull()
  })

  it.each([
    ['a success', [503, 204], null],
    ['a failure', [204, 503], expect.any(Date)],
  ])(
    'uses the last outcome of attempts that are recorded together: %s',
    async (_, statuses, failingSince) => {
      const { event } = dispatching(runtime)
      const output = await addOutput(runtime.db, receiver.url)
      for (const _ of statuses) await event(output)
      const now = runtime.clock.now()
      const claims = await claimDeliveries(runtime.db, [{ outputId: output.id, count: 2 }], now)
      const made = claims.map((claimed, at) => attemptOf(claimed, statuses[at]!, now))
      await recordAttempts(runtime, made)
      expect((await outputRow(output.id)).failingSince).toEqual(failingSince)
    },
  )

  it('records attempts in one statement, which reads no other deliveries', async () => {
    const { event } = dispatching(runtime)
    const output = await addOutput(runtime.db, receiver.url)
    await runtime.db.execute(
      sql`insert into deliveries (id, workspace_id, event_id, pipe_id, webhook_output_id, url, state)
      select gen_random_uuid(), ${output.workspaceId}, gen_random_uuid(), ${output.pipeId}, ${output.id}, '', 'delivered'
      from generate_series(1, 3000)`,
    )
    await event(output)
    await event(output)
    const now = runtime.clock.now()
    const claims = await claimDeliveries(runtime.db, [{ outputId: output.id, count: 2 }], now)
    const made = claims.map((claimed) => attemptOf(claimed, 204, now))
    await runtime.db.transaction(async (tx) => {
      const statements = vi.spyOn(tx._.session, 'prepareQuery')
      await recordAttempts({ ...runtime, db: tx }, made)
      expect(statements.mock.calls).toHaveLength(1)
      const read = await rows(
        tx,
        sql`select relname, seq_tup_read from pg_stat_xact_user_tables where relname like 'deliveries_%' and seq_tup_read > 10`,
      )
      expect(read).toEqual([])
    })
    const states = await runtime.db.select().from(deliveries).where(eq(deliveries.state, 'delivered'))
    expect(states.filter(({ url }) => url === receiver.url)).toHaveLength(2)
  })

  it('does not turn an output off for five days of failures once another attempt has succeeded', async () => {
    const { event } = dispatching(runtime)
    const now = runtime.clock.now()
    const output = await addOutput(runtime.db, receiver.url, { failingSince: new Date(now - 120 * HOUR) })
    await event(output)
    await event(output)
    const claims = await claimDeliveries(runtime.db, [{ outputId: output.id, count: 2 }], now)
    const [success, failure] = claims.map((claimed, at) => attemptOf(claimed, [204, 503][at]!, now))
    expect(failure!.decision.turnOff).toBeDefined()
    await recordAttempts(runtime, [success!])
    await recordAttempts(runtime, [failure!])
    expect(await outputRow(output.id)).toMatchObject({ enabled: true, failingSince: new Date(now) })
  })

  it('waits for the Retry-After of a 503', async () => {
    const { event, work, later } = dispatching(runtime)
    receiver.answerWith((_, res) => res.writeHead(503, { 'Retry-After': '120' }).end())
    const fileId = await event(await addOutput(runtime.db, receiver.url))
    await work()
    await later(119_000)
    expect(receiver.received).toHaveLength(1)
    expect((await deliveryOf(fileId)).nextAttemptAt!.getTime() - runtime.clock.now()).toBe(1000)
    await later(6000)
    expect(receiver.received).toHaveLength(2)
  })

  it('turns the output off after 410, says why, and does not call it again', async () => {
    const { event, work, later } = dispatching(runtime)
    receiver.answerWith(410)
    const customer = await createTestWorkspace(runtime)
    const place = { workspaceId: customer.workspaceId, pipeId: customer.pipe.id }
    const output = await addOutput(runtime.db, receiver.url, place)
    const [first, second] = [await event(output), await event(output)]
    receiver.answerWith(410)
    await work()
    expect(await outputRow(output.id)).toMatchObject({
      enabled: false,
      turnedOffReason: expect.stringContaining('410'),
    })
    const log = await runtime.db.select().from(auditLog).where(eq(auditLog.workspaceId, output.workspaceId))
    expect(log.filter(({ actorKind }) => actorKind === 'system')).toMatchObject([
      { action: 'webhook.turned_off', actorKind: 'system', subjectId: output.pipeId },
    ])
    await sweepAlerts(runtime)
    const mails = runtime.jobs.flatMap(({ queue, data }) =>
      queue === 'mail' ? [openMailJob(runtime, data as { sealed: string })] : [],
    )
    const text = expect.stringContaining('410 Gone')
    const mail = { to: customer.email, subject: 'The webhook for “Photos” is off', text }
    expect(mails).toMatchObject([{ mail }])
    const calls = receiver.received.length
    await later(HOUR)
    expect(receiver.received).toHaveLength(calls)
    for (const fileId of [first, second]) expect(await deliveryOf(fileId)).toMatchObject({ state: 'failed' })
  })

  it('turns the output off after five days in which every attempt failed', async () => {
    const { event, work, later } = dispatching(runtime)
    receiver.answerWith(500)
    const output = await addOutput(runtime.db, receiver.url)
    await event(output)
    await work()
    runtime.clock.advance(5 * 24 * HOUR - 1)
    await event(output)
    await work()
    expect((await outputRow(output.id)).enabled).toBe(true)
    await later(11_000)
    expect(await outputRow(output.id)).toMatchObject({
      enabled: false,
      turnedOffReason: expect.stringContaining('five days'),
    })
  })

  it('keeps an output on if its address changed while the old one returned 410', async () => {
    const { event, work } = dispatching(runtime)
    const output = await addOutput(runtime.db, receiver.url)
    receiver.answerWith(async (_, res) => {
      await runtime.db
        .update(webhookOutputs)
        .set({ url: `${receiver.url}/new` })
        .where(eq(webhookOutputs.id, output.id))
      res.writeHead(410).end()
    })
    await event(output)
    await work()
    expect((await outputRow(output.id)).enabled).toBe(true)
  })

  it('sends a retry to the current address', async () => {
    const { event, work, later } = dispatching(runtime)
    receiver.answerWith(500)
    const output = await addOutput(runtime.db, receiver.url)
    const fileId = await event(output)
    await work()
    await runtime.db
      .update(webhookOutputs)
      .set({ url: `${receiver.url}/new` })
      .where(eq(webhookOutputs.id, output.id))
    await later(11_000)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook/new'])
    const delivery = await deliveryOf(fileId)
    expect(delivery.attempts.map(({ url }) => url)).toEqual([receiver.url, `${receiver.url}/new`])
  })

  it('signs with both secrets during a rotation, and with the new one afterwards', async () => {
    const { event, work } = dispatching(runtime)
    const before = await addOutput(runtime.db, receiver.url)
    const after = await addOutput(runtime.db, receiver.url)
    const previousSecretEncrypted = runtime.vault.seal(after.secret, previousSecretPlace(before.id))
    const previousSecretUntil = new Date(runtime.clock.now() + 24 * HOUR)
    await runtime.db
      .update(webhookOutputs)
      .set({ previousSecretEncrypted, previousSecretUntil })
      .where(eq(webhookOutputs.id, before.id))
    await event(before)
    await work()
    runtime.clock.advance(24 * HOUR)
    await event(before)
    await work()
    const [during, later] = receiver.received
    const accepted = ({ body, headers }: (typeof receiver.received)[number], secret: string) => {
      const webhook = new Webhook(secret) as unknown as { sign(id: string, at: Date, body: string): string }
      const at = new Date(Number(headers['webhook-timestamp']) * 1000)
      return String(headers['webhook-signature'])
        .split(' ')
        .includes(webhook.sign(String(headers['webhook-id']), at, body))
    }
    expect([accepted(during!, before.secret), accepted(during!, after.secret)]).toEqual([true, true])
    expect([accepted(later!, before.secret), accepted(later!, after.secret)]).toEqual([true, false])
    expect(String(during!.headers['x-service-signature']).match(/v1=/g)).toHaveLength(2)
  })

  it('gives each attempt to only one of two workers', async () => {
    const one = dispatching(runtime)
    const two = dispatching(runtime)
    const output = await addOutput(runtime.db, receiver.url)
    for (let n = 0; n < 10; n++) await one.event(output)
    const wake = [{ outputId: output.id, workspaceId: output.workspaceId }]
    await Promise.all([one.dispatcher.wake(wake), two.dispatcher.wake(wake)])
    await Promise.all([one.dispatcher.idle(), two.dispatcher.idle()])
    expect(receiver.received).toHaveLength(10)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(10)
  })

  it("repeats a dead worker's attempt when its claim expires", async () => {
    const called = Promise.withResolvers<ServerResponse>()
    receiver.answerWith((_, res) => called.resolve(res))
    const first = dispatching(runtime)
    const output = await addOutput(runtime.db, receiver.url)
    const fileId = await first.event(output)
    void first.work()
    const unanswered = await called.promise
    const second = dispatching(runtime)
    receiver.answerWith(204)
    await second.later(29_000)
    expect(receiver.received).toHaveLength(1)
    await second.later(1000 + GRACE)
    expect(await deliveryOf(fileId)).toMatchObject({ state: 'delivered' })
    // The first worker was not dead after all. Its result is stored, but changes nothing.
    unanswered.destroy()
    await first.dispatcher.idle()
    const delivery = await deliveryOf(fileId)
    expect(delivery).toMatchObject({ state: 'delivered' })
    expect(delivery.attempts.map(({ error }) => error).sort()).toEqual(['connect', null].sort())
  })

  it('does not send deliveries that became due while the output was off', async () => {
    const { event, work } = dispatching(runtime)
    const output = await addOutput(runtime.db, receiver.url)
    const fileId = await event(output)
    await runtime.db.update(webhookOutputs).set({ enabled: false }).where(eq(webhookOutputs.id, output.id))
    await work()
    expect(receiver.received).toEqual([])
    expect(await deliveryOf(fileId)).toMatchObject({ state: 'failed', lastError: 'off', attempts: [] })
  })
})
