import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { alerts, dataStores, deliveries, events, usageMonths, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { eventSchema } from '../../events/event-schemas.ts'
import { days, minutes } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { createOutput } from '../../webhooks/outputs/save-output.ts'
import { outputInput } from '../../webhooks/outputs/webhook-output.ts'
import { createPipe } from '../pipes/create-pipe.ts'
import { pipeInput } from '../pipes/pipe.ts'
import { sweepAlerts } from './sweep-alerts.ts'

type Kind = Parameters<typeof eventSchema>[0]

describeWithDatabase('alert events', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database(), { FREE_TIER_BYTES: '1000' })
    mine = await createTestWorkspace(runtime)
  })

  const add = (kinds: Kind[], fields: object = {}, of: object = {}) =>
    createOutput(
      runtime,
      mine.actor,
      of,
      parseInput(outputInput, { url: 'http://127.0.0.1:1/hook', events: kinds, ...fields }),
    )
  /**
   * Runs the sweep on two nodes at the same time. Returns the new events, each validated against its schema, with the
   * outputs that receive it.
   */
  async function sent() {
    const before = new Set((await written()).map(({ id }) => id))
    await Promise.all([sweepAlerts(runtime), sweepAlerts(runtime)])
    const made = (await written()).filter(({ id }) => !before.has(id))
    const given = await runtime.db
      .select()
      .from(deliveries)
      .where(eq(deliveries.workspaceId, mine.workspaceId))
    return made.map(({ id, kind, payload, pipeId, missedStatus }) => ({
      kind,
      pipeId,
      missedStatus,
      data: eventSchema(kind).strict().parse(JSON.parse(payload!)).data,
      to: given
        .filter(({ eventId }) => eventId === id)
        .map(({ webhookOutputId }) => webhookOutputId)
        .sort(),
    }))
  }
  const written = () =>
    runtime.db.select().from(events).where(eq(events.workspaceId, mine.workspaceId)).orderBy(events.id)
  const setStore = (fields: Partial<typeof dataStores.$inferInsert>) =>
    runtime.db.update(dataStores).set(fields).where(eq(dataStores.id, mine.dataStore.id))
  const setOutput = (id: string, fields: Partial<typeof webhookOutputs.$inferInsert>) =>
    runtime.db.update(webhookOutputs).set(fields).where(eq(webhookOutputs.id, id))
  const use = (usedBytes: number) =>
    runtime.db
      .insert(usageMonths)
      .values({ workspaceId: mine.workspaceId, month: '2026-03', usedBytes })
      .onConflictDoUpdate({ target: [usageMonths.workspaceId, usageMonths.month], set: { usedBytes } })
  async function createOtherPipe(): Promise<string> {
    const [store] = await runtime.db.select().from(dataStores).where(eq(dataStores.id, mine.dataStore.id))
    const other = { ...store!, id: crypto.randomUUID(), name: 'Other' }
    await runtime.db.insert(dataStores).values(other)
    const fields = { name: 'Elsewhere', dataStoreId: other.id, source: { http: true } }
    return (await createPipe(runtime, mine.actor, parseInput(pipeInput, fields))).id
  }
  const ago = (ms: number) => new Date(runtime.clock.now() - ms)

  it('report a failing Data Store once, and its recovery once, to its Pipes and the workspace', async () => {
    const kinds: Kind[] = ['data_store.failing', 'data_store.recovered']
    const ofAll = await add(kinds)
    const ofPipe = await add(kinds, {}, { pipeId: mine.pipe.id })
    await add(['file.status_changed'])
    const other = await createOtherPipe()
    await add(kinds, {}, { pipeId: other })

    await setStore({ rejectingSince: ago(minutes(2)), rejection: 'AccessDenied' })
    const about = { data_store_id: mine.dataStore.id, name: 'Bucket', bucket: 'media' }
    const to = [ofAll.id, ofPipe.id].sort()
    expect(await sent()).toEqual([
      {
        kind: 'data_store.failing',
        pipeId: mine.workspaceId,
        missedStatus: null,
        data: { ...about, reason: 'AccessDenied', failingSince: expect.any(String) },
        to,
      },
    ])
    expect(await sent()).toEqual([])
    await setStore({ rejectingSince: null, rejection: null })
    expect(await sent()).toMatchObject([{ kind: 'data_store.recovered', data: about, to }])
    expect(await sent()).toEqual([])
    await setStore({ rejectingSince: ago(minutes(2)), rejection: 'NoSuchBucket' })
    expect(await sent()).toMatchObject([{ kind: 'data_store.failing', data: { reason: 'NoSuchBucket' } }])
  })

  it('report a turned-off output once to the other outputs, but not that it is on again', async () => {
    const kinds: Kind[] = ['output.turned_off']
    const first = await add(kinds, { name: 'First' }, { pipeId: mine.pipe.id })
    const further = await add(kinds, { name: 'Further' }, { pipeId: mine.pipe.id })
    const ofAll = await add(kinds, { name: 'All' })
    const off = { enabled: false, turnedOffAt: ago(0), turnedOffReason: 'It responded with 410.' }

    await setOutput(first.id, off)
    expect(await sent()).toMatchObject([
      {
        kind: 'output.turned_off',
        pipeId: mine.pipe.id,
        missedStatus: null,
        data: { output_id: first.id, pipe_id: mine.pipe.id, name: 'First', reason: 'It responded with 410.' },
        to: [further.id, ofAll.id].sort(),
      },
    ])
    expect(await sent()).toEqual([])
    await setOutput(first.id, { enabled: true, turnedOffAt: null, turnedOffReason: null })
    expect(await sent()).toEqual([])

    await setOutput(ofAll.id, off)
    await setOutput(further.id, off)
    const both = await sent()
    expect(both.map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ output_id: ofAll.id, pipe_id: null }),
        expect.objectContaining({ output_id: further.id, pipe_id: mine.pipe.id }),
      ]),
    )
    expect(both).toHaveLength(2)
  })

  it('report each quota threshold once, and mark it as missed for an output that is off', async () => {
    const on = await add(['usage.threshold'])
    await use(799)
    expect(await sent()).toEqual([])
    await use(800)
    const about = { month: '2026-03', limitBytes: 1000, resetsAt: '2026-04-01T00:00:00.000Z' }
    expect(await sent()).toEqual([
      {
        kind: 'usage.threshold',
        pipeId: mine.workspaceId,
        missedStatus: null,
        data: { ...about, percent: 80, usedBytes: 800 },
        to: [on.id],
      },
    ])
    await use(850)
    expect(await sent()).toEqual([])
    await setOutput(on.id, { enabled: false })
    await use(1200)
    expect(await sent()).toMatchObject([
      { data: { ...about, percent: 100, usedBytes: 1200 }, to: [], missedStatus: 'usage.threshold' },
    ])
    runtime.clock.advance(days(30))
    expect(await sent()).toEqual([])
  })

  it('report alerts raised by a node running the previous version, except those without an event', async () => {
    await add(['data_store.failing', 'data_store.recovered', 'output.turned_off', 'usage.threshold'])
    const raised = { workspaceId: mine.workspaceId, subject: 'x', detail: null, raisedAt: ago(0) }
    const old = (kind: 'bucket_rejects' | 'token_unused', subjectId: string) =>
      runtime.db.insert(alerts).values({ ...raised, id: crypto.randomUUID(), kind, subjectId })
    await setStore({ rejectingSince: ago(minutes(2)), rejection: 'AccessDenied' })
    await old('bucket_rejects', mine.dataStore.id)
    await old('token_unused', mine.sender.id)
    expect(await sent()).toMatchObject([{ kind: 'data_store.failing' }])
    expect(await sent()).toEqual([])
  })
})
