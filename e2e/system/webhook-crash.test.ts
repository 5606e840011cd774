import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  it,
  onTestFinished,
} from 'vitest'
import { attempts, deliveries } from '#drizzle/schema/index.ts'
import { emitFileEvent } from '#lib/events/emit-file-event.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { openQueue, type Queue } from '#lib/platform/queue.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { longUnless } from '../../test/support/long.ts'
import { type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { startWebhookWorkerProcess } from '../../test/support/start-webhook-worker.ts'
import { addFile, addOutput } from '../../test/support/webhook-rows.ts'

/** Moves the clock past the end of every claim and of the sweep's grace period. */
const AFTER_THE_CLAIM = { CLOCK_AHEAD_MS: '60000' }

let database: DatabaseHandle & { url: string }
let queue: Queue
let receiver: Receiver

beforeAll(async () => {
  database = await openTestDatabase()
  queue = await openQueue(database, { worker: false, log: createLogger('silent') })
})
afterAll(async () => {
  await queue?.stop()
  await database?.close()
})
beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.stop())

function startWorker(env: Record<string, string> = {}) {
  const programs = inject('programs')
  const all = { NODE_COMPILE_CACHE: join(programs, 'compile-cache'), ...env }
  return startWebhookWorkerProcess(database.url, all, join(programs, 'webhook-worker.mjs'))
}

async function emit(output: { workspaceId: string; pipeId: string }): Promise<string> {
  const fileId = await addFile(database.db, output)
  await database.db.transaction((tx) =>
    emitFileEvent(tx, { queue, clock: { now: () => Date.now() } }, fileId),
  )
  return fileId
}

async function logOf(fileId: string) {
  const [delivery] = await database.db.select().from(deliveries).where(eq(deliveries.fileId, fileId))
  const made = await database.db.select().from(attempts).where(eq(attempts.deliveryId, delivery!.id))
  return { ...delivery!, attempts: made }
}

const idsOf = (all: Receiver) => all.received.map(({ headers }) => headers['webhook-id'])

describe('a worker killed at the step', () => {
  for (const { step, calls } of [
    // The worker dies before it calls the receiver: the next worker calls it once.
    { step: 'woken', calls: 1 },
    { step: 'claimed', calls: 1 },
    { step: 'prepared', calls: 1 },
    // The receiver's response is lost: it is called once more, with the same id.
    { step: 'called', calls: 2 },
    { step: 'recording', calls: 2 },
    // The attempt is recorded: the receiver is never called again.
    { step: 'recorded', calls: 1 },
  ])
    it(step, longUnless(['called', 'recorded'].includes(step)), async () => {
      const output = await addOutput(database.db, receiver.url)
      const fileId = await emit(output)
      const victim = await startWorker({ DIE_AT: step })
      expect(await victim.exited).toEqual([null, 'SIGKILL'])

      const next = await startWorker(AFTER_THE_CLAIM)
      if (step !== 'recorded') await next.printed('recorded')
      // Delivery of the next event shows that the first one is really done.
      const second = await emit(output)
      await next.printed('recorded', step === 'recorded' ? 1 : 2)
      await next.stop()

      const { eventId, state, attempts: made } = await logOf(fileId)
      expect(state).toBe('delivered')
      expect(made).toHaveLength(1)
      expect(idsOf(receiver).filter((id) => id === eventId)).toHaveLength(calls)
      expect(new Set(idsOf(receiver))).toEqual(new Set([eventId, (await logOf(second)).eventId]))
    })

  it('sent, before the receiver has responded', async () => {
    const output = await addOutput(database.db, receiver.url)
    const victim = await startWorker()
    await victim.printed('ready')
    receiver.answerWith(() => victim.kill())
    const fileId = await emit(output)
    await victim.exited
    receiver.answerWith(204)
    const next = await startWorker(AFTER_THE_CLAIM)
    await next.printed('recorded')
    await next.stop()
    const { eventId, state } = await logOf(fileId)
    expect(state).toBe('delivered')
    expect(idsOf(receiver)).toEqual([eventId, eventId])
  })

  // Only a failure is recorded in a transaction: a success takes a single statement.
  for (const step of ['called', 'committing'])
    it(
      `${step}, when the response was a failure: the attempt is repeated, and the schedule continues`,
      longUnless(step === 'committing'),
      async () => {
        const output = await addOutput(database.db, receiver.url)
        receiver.answerWith(500)
        const fileId = await emit(output)
        const victim = await startWorker({ DIE_AT: step })
        await victim.exited
        const next = await startWorker(AFTER_THE_CLAIM)
        await next.printed('recorded')
        await next.stop()
        expect(await logOf(fileId)).toMatchObject({ state: 'pending', attemptCount: 1, lastStatus: 500 })
        expect(receiver.received).toHaveLength(2)
      },
    )
})

it('a worker killed while serving a dead and a healthy output loses nothing, and only attempts in progress are repeated', {
  tags: 'long',
}, async () => {
  const healthy = await addOutput(database.db, receiver.url)
  const { workspaceId, pipeId } = healthy
  const gone = await startReceiver(500)
  onTestFinished(() => gone.stop())
  const dead = await addOutput(database.db, gone.url, { workspaceId, pipeId: null, furtherPipeId: pipeId })
  const victim = await startWorker()
  await victim.printed('ready')
  receiver.answerWith((_, res) => {
    res.writeHead(204).end()
    if (receiver.received.length === 20) victim.kill()
  })
  const files = await Promise.all(Array.from({ length: 60 }, () => emit(healthy)))
  await victim.exited
  await receiver.isLeft()
  const sentTo = (outputId: string) =>
    database.db.select().from(deliveries).where(eq(deliveries.webhookOutputId, outputId))
  const open = (sent: { eventId: string; state: string }[]) =>
    sent.filter(({ state }) => state === 'pending').map(({ eventId }) => eventId)
  const unrecorded = open(await sentTo(healthy.id))
  const seen = idsOf(receiver)
  expect(unrecorded.length).toBeGreaterThan(0)

  const next = await startWorker(AFTER_THE_CLAIM)
  await expect.poll(async () => open(await sentTo(healthy.id)), { timeout: 30_000 }).toEqual([])
  await next.stop()

  // Recorded deliveries were sent once. The second worker sent the others once more.
  const again = idsOf(receiver).slice(seen.length)
  expect(again.toSorted()).toEqual(unrecorded.toSorted())
  for (const { id } of [healthy, dead])
    expect((await sentTo(id)).map(({ fileId }) => fileId).sort()).toEqual(files.toSorted())
  // A delivery that was in progress when the worker was killed may have been sent once more than is recorded.
  expect(gone.received.length).toBeGreaterThan(0)
  const tried = idsOf(gone)
  for (const { eventId, state, attemptCount } of await sentTo(dead.id)) {
    expect(state).toBe('pending')
    const calls = tried.filter((id) => id === eventId).length
    expect([attemptCount, attemptCount + 1]).toContain(calls)
  }
})

it('two workers never repeat an attempt', async () => {
  const workers = await Promise.all([startWorker(), startWorker()])
  await Promise.all(workers.map((worker) => worker.printed('ready')))
  const outputs = await Promise.all(Array.from({ length: 4 }, () => addOutput(database.db, receiver.url)))
  const files = await Promise.all(Array.from({ length: 100 }, (_, n) => emit(outputs[n % 4]!)))
  await receiver.gets(files.length)
  await Promise.all(workers.map((worker) => worker.stop()))
  expect(new Set(idsOf(receiver)).size).toBe(files.length)
  expect(receiver.received).toHaveLength(files.length)
})
