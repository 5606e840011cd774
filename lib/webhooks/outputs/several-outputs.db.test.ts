import { eq, sql } from 'drizzle-orm'
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest'
import { attempts, deliveries, EVENT_KINDS, events, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { type Receiver, startReceiver } from '../../../test/support/receiver.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addFile } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { emitFileCreated } from '../../events/emit-file-event.ts'
import { eventSchema } from '../../events/event-schemas.ts'
import { fanOutEvents } from '../../events/fan-out.ts'
import { rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { indexMonths } from '../delivery/sweeps.ts'
import { listDeliveries } from '../log/list-deliveries.ts'
import { sendTestEvent } from '../log/send-test-event.ts'
import { verifyWebhook } from '../signature/signature.ts'
import { deleteOutput } from './end-output.ts'
import { listOutputs, showOutput } from './find-output.ts'
import { discardMissed, sendMissed, showMissed } from './missed-events.ts'
import { changeOutput, createOutput, saveOutput } from './save-output.ts'
import { outputChanges, outputInput, webhookOutputInput } from './webhook-output.ts'

describeWithDatabase('several outputs', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  let receiver: Receiver
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
    receiver = await startReceiver()
  })
  afterEach(() => receiver.stop())

  const place = () => ({ workspaceId: mine.workspaceId, pipeId: mine.pipe.id })
  const add = (fields: object = {}, of: object = { pipeId: mine.pipe.id }) =>
    createOutput(runtime, mine.actor, of, parseInput(outputInput, { url: receiver.url, ...fields }))
  const change = (id: string, fields: object) =>
    changeOutput(runtime, mine.actor, { outputId: id }, parseInput(outputChanges, fields))
  const sentTo = async (id: string) =>
    runtime.db.select().from(deliveries).where(eq(deliveries.webhookOutputId, id)).orderBy(deliveries.id)
  const eventsOf = (fileId: string) => runtime.db.select().from(events).where(eq(events.fileId, fileId))

  it("each get a file's single event, signed with their own secret", async () => {
    const { event, work } = dispatching(runtime)
    const made = [await add(), await add({ name: 'Chat' }), await add({ name: 'All' }, {})]
    const fileId = await event(place())
    await work()
    expect(await eventsOf(fileId)).toMatchObject([{ missedStatus: null, fannedOut: true }])
    expect(receiver.received).toHaveLength(3)
    for (const { secret } of made) {
      const good = receiver.received.filter(({ headers, body }) => {
        const { service, standard } = verifyWebhook(
          { headers: headers as Record<string, string>, body },
          [secret],
          runtime.clock.now(),
        )
        return service === 'valid' && standard === 'valid'
      })
      expect(good).toHaveLength(1)
    }
    for (const { id } of made) expect(await sentTo(id)).toMatchObject([{ state: 'delivered' }])
    const { data } = await listDeliveries(runtime, mine.actor, { outputId: made[1]!.id, limit: 10 })
    expect(data).toMatchObject([{ outputId: made[1]!.id, event: 'file.status_changed' }])
  })

  it('fail independently: one that responds with 410 is turned off, and the others continue', async () => {
    const { event, work } = dispatching(runtime)
    const absent = await startReceiver()
    onTestFinished(() => absent.stop())
    absent.answerWith(410)
    const [good, gone] = [await add(), await add({ url: absent.url })]
    await event(place())
    await work()
    expect(await showOutput(runtime, mine.actor, { outputId: good.id })).toMatchObject({ enabled: true })
    expect(await showOutput(runtime, mine.actor, { outputId: gone.id })).toMatchObject({
      enabled: false,
      turnedOffReason: expect.stringContaining('410'),
    })
    const missedFile = await event(place())
    await work()
    expect(await eventsOf(missedFile)).toMatchObject([{ missedStatus: 'transferred' }])
    const missed = (id: string) => showMissed(runtime, mine.actor, { outputId: id })
    expect(await missed(good.id)).toMatchObject({ events: 0 })
    expect(await missed(gone.id)).toMatchObject({ events: 1 })
    await change(gone.id, { enabled: true, url: receiver.url })
    expect(await sendMissed(runtime, mine.actor, { outputId: gone.id }, {})).toEqual({ sent: 1, more: false })
    await work()
    expect(await sentTo(good.id)).toHaveLength(2)
    const states = (await sentTo(gone.id)).map(({ state }) => state)
    expect(states.sort()).toEqual(['delivered', 'failed'])
    expect(await eventsOf(missedFile)).toMatchObject([{ missedStatus: null }])
  })

  it('discard missed events without affecting other outputs', async () => {
    const { event } = dispatching(runtime)
    const [one, other] = [await add({ enabled: false }), await add({ enabled: false })]
    await event(place())
    runtime.clock.advance(1000)
    await discardMissed(runtime, mine.actor, { outputId: one.id })
    expect(await showMissed(runtime, mine.actor, { outputId: one.id })).toMatchObject({ events: 0 })
    expect(await showMissed(runtime, mine.actor, { outputId: other.id })).toMatchObject({ events: 1 })
  })

  it('are limited to five per Pipe and five per workspace', async () => {
    for (let n = 0; n < 5; n++) {
      await add()
      await add({}, {})
    }
    await expect(add()).rejects.toMatchObject({ code: 'conflict' })
    await expect(add({}, {})).rejects.toMatchObject({ code: 'conflict' })
    expect(await listOutputs(runtime, mine.actor, {})).toHaveLength(5)
  })

  it('let PUT address the first one, and the next one once the first is deleted', async () => {
    const put = (url: string) =>
      saveOutput(runtime, mine.actor, mine.pipe.id, parseInput(webhookOutputInput, { url }))
    const first = await put(receiver.url)
    const second = await add({ name: 'Second', events: ['file.created'] })
    expect(await put(`${receiver.url}/moved`)).toMatchObject({ id: first.id })
    await deleteOutput(runtime, mine.actor, first.id)
    expect(await put(receiver.url)).toMatchObject({ id: second.id, name: 'Second', events: ['file.created'] })
    expect(await listOutputs(runtime, mine.actor, { pipeId: mine.pipe.id })).toHaveLength(1)
  })

  it('send static headers, which the log and the API do not show', async () => {
    const { event, work } = dispatching(runtime)
    const made = await add({ headers: { 'X-Api-Key': 'a secret value' } })
    await event(place())
    await work()
    expect(receiver.received[0]!.headers).toMatchObject({
      'x-api-key': 'a secret value',
      'content-type': 'application/json',
    })
    const [kept] = await runtime.db
      .select({ headers: attempts.requestHeaders })
      .from(attempts)
      .innerJoin(deliveries, eq(deliveries.id, attempts.deliveryId))
      .where(eq(deliveries.webhookOutputId, made.id))
    expect(kept!.headers).toMatchObject({ 'X-Api-Key': '(hidden)' })
    const [row] = await runtime.db.select().from(webhookOutputs).where(eq(webhookOutputs.id, made.id))
    expect(JSON.stringify([row, made])).not.toContain('a secret value')
    expect(made.headerNames).toEqual(['X-Api-Key'])
    expect(await change(made.id, { headers: {} })).toMatchObject({ headerNames: [] })
  })

  it.each([
    'Content-Length',
    'host',
    'Transfer-Encoding',
    'Webhook-Signature',
    'X-Service-Signature',
    'webhook-id',
    'Proxy-Authorization',
    'a b',
    'Ä',
  ])('refuse the header %s', async (name) => {
    expect(() => parseInput(outputInput, { url: receiver.url, headers: { [name]: 'x' } })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })

  it.each(['a\r\nb', 'ä', ' a', ''])('refuse the header value %j', (value) => {
    expect(() => parseInput(outputInput, { url: receiver.url, headers: { 'X-Key': value } })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })

  it('get file.created only if they subscribe to it, with or without file.status_changed', async () => {
    const { event, work } = dispatching(runtime)
    const usual = await add()
    const asking = await add({ events: ['file.created'] }, {})
    const fileId = await addFile(runtime.db, place(), { status: 'uploading', offsetBytes: 0 })
    await runtime.db.transaction((tx) => emitFileCreated(tx, runtime, fileId))
    await event(place())
    await work()
    expect(await sentTo(usual.id)).toHaveLength(1)
    expect(await sentTo(asking.id)).toMatchObject([{ fileId }])
    const [told] = await eventsOf(fileId)
    expect(eventSchema('file.created').parse(JSON.parse(told!.payload!))).toMatchObject({
      data: { file_id: fileId, status: 'uploading', size: 11, filename: 'a film.mp4' },
    })
    await change(asking.id, { events: ['file.status_changed'] })
    const silent = await addFile(runtime.db, place(), { status: 'uploading' })
    await runtime.db.transaction((tx) => emitFileCreated(tx, runtime, silent))
    expect(await eventsOf(silent)).toEqual([])
  })

  it('do not get usage.threshold if they belong to a Pipe', async () => {
    await expect(add({ events: ['usage.threshold'] })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it.each(EVENT_KINDS)('are sent a test of %s that matches its schema', async (kind) => {
    const { work } = dispatching(runtime)
    const { id } = await add({}, {})
    await sendTestEvent(runtime, mine.actor, { outputId: id }, { event: kind })
    await work()
    const body = JSON.parse(receiver.received.at(-1)!.body)
    expect(eventSchema(kind).strict().parse(body)).toMatchObject({ event: kind, test: true })
  })

  it('get events exactly once from a node running the previous version, which only knows about the first output', async () => {
    const { work } = dispatching(runtime)
    const first = await add()
    const [further, ofAll] = [await add(), await add({}, {})]
    const off = await add({ enabled: false })
    const fileId = await addFile(runtime.db, place())
    const [eventId, deliveryId] = [uuidv7(runtime.clock.now()), uuidv7(runtime.clock.now())]
    const at = new Date(runtime.clock.now())
    const old = { ...place(), fileId, createdAt: at }
    // Writes the rows as the previous version does, which does not know about `fanned_out` or any output except the
    // first.
    await rows(
      runtime.db,
      sql`insert into events (id, workspace_id, pipe_id, file_id, payload, created_at)
        values (${eventId}, ${old.workspaceId}, ${old.pipeId}, ${fileId}, '{"as":"written"}', ${at.toISOString()})`,
    )
    await runtime.db.insert(deliveries).values({
      ...old,
      id: deliveryId,
      eventId,
      webhookOutputId: first.id,
      url: receiver.url,
      nextAttemptAt: at,
    })
    runtime.clock.advance(1000)
    const later = await add()
    expect(await fanOutEvents(runtime)).toBe(1)
    expect(await fanOutEvents(runtime)).toBe(0)
    await work()
    for (const { id } of [first, further, ofAll]) expect(await sentTo(id)).toHaveLength(1)
    for (const { id } of [off, later]) expect(await sentTo(id)).toEqual([])
    expect(await showMissed(runtime, mine.actor, { outputId: off.id })).toMatchObject({ events: 1 })
    expect(receiver.received.map(({ body }) => body)).toContain('{"as":"written"}')
  })

  it("have a log that uses each month's index", async () => {
    await indexMonths(runtime.db)
    expect(await indexMonths(runtime.db)).toBe(0)
    const found = await rows<{ name: string }>(
      runtime.db,
      sql`select relname as name from pg_class where relname like 'deliveries_%_by_output'`,
    )
    expect(found.map(({ name }) => name)).toContain('deliveries_default_by_output')
  })
})
