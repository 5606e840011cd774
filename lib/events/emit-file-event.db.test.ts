import { eq, inArray } from 'drizzle-orm'
import { expect, it, vi } from 'vitest'
import { deliveries, events } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { addDestination, addFile, addOutput, addPipe, addWorkspace } from '../../test/support/webhook-rows.ts'
import type { Db } from '../platform/db/database.ts'
import type { Queue } from '../platform/queue.ts'
import { emitFileEvent } from './emit-file-event.ts'

const NOW = Date.parse('2026-11-05T10:00:00.123Z')
const clock = { now: () => NOW }

function recordingQueue() {
  const jobs: object[] = []
  const enqueueAll: Queue['enqueueAll'] = async (_tx, queue, all) =>
    void jobs.push(...all.map(({ data }) => ({ queue, ...data })))
  return { jobs, queue: { enqueueAll } as Queue }
}

async function emit(db: Db, fileId: string) {
  const { jobs, queue } = recordingQueue()
  await db.transaction((tx) => emitFileEvent(tx, { queue, clock }, fileId))
  const written = await db.select().from(events).where(eq(events.fileId, fileId))
  return {
    jobs,
    events: written,
    deliveries: await db.select().from(deliveries).where(eq(deliveries.fileId, fileId)),
  }
}

describeWithDatabase('emitFileEvent', (database) => {
  it('writes the event, its delivery and the first job', async () => {
    const { db } = database()
    const output = await addOutput(db, 'https://hooks.example.com/a')
    const fileId = await addFile(db, output)
    const dataStoreId = await addDestination(db, output.workspaceId, fileId)
    const emitted = await emit(db, fileId)
    const [event] = emitted.events
    expect(JSON.parse(event!.payload!)).toEqual({
      id: event!.id,
      type: 'file.status_changed',
      event: 'file.status_changed',
      timestamp: '2026-11-05T10:00:00.123Z',
      data: {
        pipe_id: output.pipeId,
        file_id: fileId,
        filename: 'a film.mp4',
        filetype: 'video/mp4',
        status: 'transferred',
        size: 11,
        sender: 'Backend',
        protocol: 'tus',
        subject: 'user-1',
        metadata: { order: '7' },
        uploadMetadata: { album: 'été' },
        checksum: 'crc32:0d4a1185',
        destinations: [
          {
            destinationId: dataStoreId,
            status: 'transferred',
            bucket: 'media',
            key: `${fileId}/a film.mp4`,
            etag: '"abc"',
            required: true,
          },
        ],
      },
    })
    expect(emitted.deliveries).toMatchObject([
      {
        eventId: event!.id,
        state: 'pending',
        attemptCount: 0,
        nextAttemptAt: new Date(NOW),
        webhookOutputId: output.id,
      },
    ])
    expect(emitted.jobs).toEqual([
      { queue: 'webhook-attempt', outputId: output.id, workspaceId: output.workspaceId },
    ])
  })

  it("writes a group's events in one statement, with one job for each output", async () => {
    const { db } = database()
    const outputs = [
      await addOutput(db, 'https://hooks.example.com/a'),
      await addOutput(db, 'https://hooks.example.com/b'),
    ]
    const fileIds: string[] = []
    for (const output of [...outputs, ...outputs, ...outputs]) fileIds.push(await addFile(db, output))
    const { jobs, queue } = recordingQueue()
    const statements = await db.transaction(async (tx) => {
      const prepare = vi.spyOn(tx._.session, 'prepareQuery')
      await emitFileEvent(tx, { queue, clock }, ...fileIds)
      return prepare.mock.calls.length
    })
    // One statement reads the ended files, and the other writes their events.
    expect(statements).toBe(2)
    expect(jobs).toEqual(
      outputs.map(({ id, workspaceId }) => ({ queue: 'webhook-attempt', outputId: id, workspaceId })),
    )
    const written = await db.select().from(events).where(inArray(events.fileId, fileIds))
    const sent = await db.select().from(deliveries).where(inArray(deliveries.fileId, fileIds))
    expect(written.map(({ fileId }) => fileId).sort()).toEqual(fileIds.toSorted())
    for (const { id, fileId, payload } of written)
      expect(JSON.parse(payload!)).toMatchObject({ id, data: { file_id: fileId } })
    expect(sent.map(({ eventId }) => eventId).sort()).toEqual(written.map(({ id }) => id).sort())
  })

  it('leaves nothing behind if its transaction rolls back', async () => {
    const { db } = database()
    const fileId = await addFile(db, await addOutput(db, 'https://hooks.example.com/a'))
    const rolledBack = db.transaction(async (tx) => {
      await emitFileEvent(tx, { queue: recordingQueue().queue, clock }, fileId)
      throw new Error('no')
    })
    await expect(rolledBack).rejects.toThrow('no')
    expect(await db.select().from(events).where(eq(events.fileId, fileId))).toEqual([])
  })

  it.each(['failed', 'expired', 'canceled'] as const)(
    'sends %s only to outputs that subscribe to it',
    async (status) => {
      const { db } = database()
      const unfinished = { status, lengthBytes: 11, offsetBytes: 5 }
      const silent = await addFile(db, await addOutput(db, 'https://hooks.example.com/a'), unfinished)
      expect(await emit(db, silent)).toMatchObject({
        jobs: [],
        events: [{ missedStatus: status }],
        deliveries: [],
      })
      const asking = await addOutput(db, 'https://hooks.example.com/a', { statuses: [status] })
      const [event] = (await emit(db, await addFile(db, asking, unfinished))).events
      expect(JSON.parse(event!.payload!).data).toMatchObject({ status, size: 5, checksum: null })
    },
  )

  it('sends the status transferred even to outputs that only subscribe to other statuses', async () => {
    const { db } = database()
    const output = await addOutput(db, 'https://hooks.example.com/a', { statuses: ['failed'] })
    expect((await emit(db, await addFile(db, output))).events).toHaveLength(1)
  })

  it('records the event as missed if the output is off or missing, and writes no event for a partial upload', async () => {
    const { db } = database()
    const off = await addOutput(db, 'https://hooks.example.com/a', { enabled: false })
    const workspaceId = (await addWorkspace(db)).id
    const none = { workspaceId, pipeId: await addPipe(db, workspaceId) }
    for (const place of [off, none])
      expect(await emit(db, await addFile(db, place))).toMatchObject({
        jobs: [],
        events: [{ missedStatus: 'transferred', payload: null, createdAt: new Date(NOW) }],
        deliveries: [],
      })
    const on = await addOutput(db, 'https://hooks.example.com/a')
    expect((await emit(db, await addFile(db, on, { concat: 'partial' }))).events).toEqual([])
  })
})
