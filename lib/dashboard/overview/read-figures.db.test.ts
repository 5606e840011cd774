import { eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { attempts, counts, deliveries, files } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { addFile, addOutput } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { days, hours, minutes } from '../../platform/kernel/clock.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { addUp } from '../../workspace/usage/fold-tallies.ts'
import { readUndelivered } from '../files/read-undelivered.ts'
import { readSnapshot } from '../live.ts'
import { readAttention } from './read-attention.ts'
import { boundsOf, RANGES, type Range, readFigures } from './read-figures.ts'
import { readMap } from './read-map.ts'

describe('a range', () => {
  it.each(Object.keys(RANGES) as Range[])(
    'of %s consists of complete slots, and the last one contains the current time',
    (range) => {
      const nowMs = Date.parse('2026-03-04T13:37:00.000Z')
      const { fromMs, untilMs } = boundsOf(range, nowMs)
      const { slotMs, slots } = RANGES[range]
      expect(untilMs - fromMs).toBe(slots * slotMs)
      expect(untilMs - nowMs).toBeGreaterThan(0)
      expect(untilMs - nowMs).toBeLessThanOrEqual(slotMs)
      expect(fromMs % slotMs).toBe(0)
    },
  )
})

describeWithDatabase('the Overview figures', (database) => {
  async function furnished() {
    const runtime = testRuntime(database())
    const [mine, other] = [await createTestWorkspace(runtime), await createTestWorkspace(runtime)]
    const now = runtime.clock.now()
    const happened = (agoMs: number, fields = {}) => ({
      workspaceId: mine.workspaceId,
      pipeId: mine.pipe.id,
      what: 'transferred' as const,
      atMs: now - agoMs,
      bytes: 100,
      tookMs: 2000,
      ...fields,
    })
    const made = addUp([
      happened(0),
      happened(minutes(90)),
      happened(minutes(90), { pipeId: 'pipe_that_is_gone', bytes: 7 }),
      happened(minutes(90), { what: 'failed', bytes: 0 }),
      happened(minutes(90), { what: 'expired', bytes: 0 }),
      happened(minutes(90), { what: 'canceled', bytes: 0 }),
      happened(minutes(90), { what: 'delivered', bytes: 0 }),
      happened(days(7) + hours(1)),
      happened(days(40)),
      happened(0, { workspaceId: other.workspaceId }),
    ])
    await runtime.db.insert(counts).values(made.map((count) => ({ ...count, at: new Date(count.at) })))
    return { runtime, mine }
  }

  it('cover the range slot by slot, compared with the same time a week ago', async () => {
    const { runtime, mine } = await furnished()
    const figures = await readFigures(runtime, mine.actor, { range: '24h', pipeId: undefined })
    expect(figures.total).toEqual({ transferred: 3, lost: 2, bytes: 207, delivered: 1, undelivered: 0 })
    expect(figures.before).toMatchObject({ transferred: 1, bytes: 100 })
    expect(figures.slots.filter(({ transferred }) => transferred > 0)).toMatchObject([
      { at: '2026-03-04T10:00:00.000Z', transferred: 2, lost: 2 },
      { at: '2026-03-04T12:00:00.000Z', transferred: 1, lost: 0 },
    ])
    expect(figures.medianMs! / 2000).toBeCloseTo(1, 0)
  })

  it.each([
    ['7d', 3, 1],
    ['30d', 4, 1],
    ['90d', 5, 0],
  ] as const)('for %s include %i files, and %i in the period before', async (range, now, before) => {
    const { runtime, mine } = await furnished()
    const figures = await readFigures(runtime, mine.actor, { range, pipeId: undefined })
    expect([figures.total.transferred, figures.before.transferred]).toEqual([now, before])
  })

  it('cover one Pipe if one is selected', async () => {
    const { runtime, mine } = await furnished()
    const figures = await readFigures(runtime, mine.actor, { range: '24h', pipeId: 'pipe_that_is_gone' })
    expect(figures.total).toMatchObject({ transferred: 1, bytes: 7, lost: 0 })
  })

  it('include how many uploads are open, and how many of them are waiting', async () => {
    const runtime = testRuntime(database())
    const { workspaceId, actor, pipe } = await createTestWorkspace(runtime)
    const upload = (fields: Partial<typeof files.$inferInsert>) => ({
      id: uuidv7(),
      workspaceId,
      pipeId: pipe.id,
      senderName: 'Backend',
      filename: 'file',
      expirySeconds: 60,
      expiresAt: new Date(),
      lastByteAt: new Date(),
      ...fields,
    })
    await runtime.db
      .insert(files)
      .values([
        upload({}),
        upload({ lastByteAt: new Date(Date.now() - minutes(6)) }),
        upload({ lastByteAt: null, createdAt: new Date(Date.now() - minutes(6)) }),
        upload({ concat: 'partial' }),
        upload({ status: 'failed' }),
      ])
    const { open } = await readFigures(runtime, actor, { range: '24h', pipeId: undefined })
    expect(open).toMatchObject({ uploading: 3, waiting: 2 })
    const { uploads } = await readSnapshot(runtime.db, workspaceId, 'uploads')
    expect(uploads!.filter(({ waiting }) => waiting)).toHaveLength(2)
    const none = await readFigures(runtime, actor, { range: '24h', pipeId: 'pipe_that_is_gone' })
    expect(none.open).toMatchObject({ uploading: 0, waiting: 0 })
  })

  it('count files that await a decision besides any number of uploads', async () => {
    const runtime = testRuntime(database())
    const { workspaceId, actor, pipe } = await createTestWorkspace(runtime)
    await runtime.db.execute(sql`insert into files (id, workspace_id, pipe_id, sender_name, filename, expiry_seconds, expires_at)
      select gen_random_uuid(), ${workspaceId}::uuid, ${pipe.id}, 'S', 'open', 3600, now() from generate_series(1, 500)`)
    await addFile(
      runtime.db,
      { workspaceId, pipeId: pipe.id },
      { status: 'transferring', decision: 'deferred' },
    )
    const { columns } = await readMap(runtime, actor)
    expect(columns[1]).toMatchObject([{ counts: { uploading: 250, awaiting: 1 }, isPartial: true }])
  })

  it('include webhooks from their first failed attempt on, and no rejections', async () => {
    const runtime = testRuntime(database())
    const { workspaceId, actor, pipe } = await createTestWorkspace(runtime)
    const output = await addOutput(runtime.db, 'https://receiver.example.com/hook', {
      workspaceId,
      pipeId: pipe.id,
    })
    const worker = dispatching(runtime)
    for (let n = 0; n < 2; n++) await worker.event(output)
    const [failing] = await runtime.db
      .select()
      .from(deliveries)
      .where(eq(deliveries.workspaceId, workspaceId))
    await runtime.db
      .update(deliveries)
      .set({ attemptCount: 1, lastStatus: 500 })
      .where(eq(deliveries.id, failing!.id))
    await addFile(runtime.db, output, { status: 'failed', decision: 'rejected', failureReason: 'rejected' })
    expect((await readFigures(runtime, actor, { range: '24h', pipeId: pipe.id })).open.retrying).toBe(1)
    await addFile(runtime.db, output, { status: 'transferring', decision: 'deferred' })
    expect(await readAttention(runtime, actor)).toMatchObject([
      { title: '1 file awaits a decision', href: '/dashboard/files?status=awaiting_decision' },
      {
        title: `receiver.example.com has not accepted 1 webhook of ${pipe.name}`,
        text: 'It responded with 500.',
      },
    ])
    expect(await readAttention(runtime, actor, pipe.id)).toMatchObject([
      { title: '1 file awaits a decision' },
      { title: 'receiver.example.com has not accepted 1 webhook' },
    ])
    const {
      columns: [sources, pipes, , outputs],
    } = await readMap(runtime, actor)
    expect(sources!.map(({ name }) => name)).toEqual(['HTTP (TUS)', 'URL'])
    expect(pipes).toMatchObject([
      {
        id: pipe.id,
        state: 'failing',
        counts: { awaiting: 1 },
        to: expect.arrayContaining(['receiver.example.com']),
      },
    ])
    expect(outputs).toMatchObject([{ id: output.id, state: 'failing', counts: { retrying: 1 } }])
    const { id, fileId, nextAttemptAt } = failing!
    await runtime.db.insert(attempts).values({
      id: uuidv7(),
      deliveryId: id,
      trigger: 'auto',
      at: new Date(),
      url: '',
      requestHeaders: {},
      status: 500,
      responseBody: 'out of order',
    })
    expect(await readUndelivered(runtime.db, fileId!)).toEqual([
      {
        outputId: output.id,
        deliveryIds: [id],
        host: 'receiver.example.com',
        error: 'It responded with 500.',
        response: 'out of order',
        nextAttemptAtMs: nextAttemptAt!.getTime(),
      },
    ])
    expect(await readUndelivered(runtime.db, id)).toEqual([])
  })
})
