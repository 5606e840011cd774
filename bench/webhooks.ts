import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { emitFileEvent } from '../lib/events/emit-file-event.ts'
import type { Db } from '../lib/platform/db/database.ts'
import { migrate } from '../lib/platform/db/migrate.ts'
import { openPostgres } from '../lib/platform/db/open-postgres.ts'
import { systemClock } from '../lib/platform/kernel/clock.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { openQueue, type Queue } from '../lib/platform/queue.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { startWebhookWorkerProcess } from '../test/support/start-webhook-worker.ts'
import { addFile, addOutput } from '../test/support/webhook-rows.ts'
import type { Finding } from './cases.ts'
import { percentile } from './load.ts'

/**
 * What a webhook takes from the transaction that writes it to its receiver: the worker, the receiver and this are
 * processes of their own on one machine with PostgreSQL, so the figures include everything but the network.
 */
type Output = { id: string; workspaceId: string; pipeId: string }
type Stage = { db: Db; queue: Queue; databaseUrl: string; receiver: Receiver }

export async function benchWebhooks(serverUrl: string): Promise<Finding[]> {
  const { url: databaseUrl, drop } = await createDatabase(serverUrl)
  const database = openPostgres({ address: databaseUrl })
  await migrate(database.db)
  const log = createLogger('error')
  const queue = await openQueue(database, { worker: false, log })
  const receiver = await startReceiver()
  const stage = { db: database.db, queue, databaseUrl, receiver }
  try {
    return [...(await latency(stage)), ...(await throughput(stage)), ...(await hanging(stage))]
  } finally {
    receiver.stop()
    await queue.stop()
    await database.close()
    await drop()
  }
}

async function latency(stage: Stage): Promise<Finding[]> {
  const outputs = await outputsTo(stage, `${stage.receiver.url}/ok`, 10)
  const worker = await startWorker(stage)
  await emitSteadily(stage, outputs, 50, 2)
  await stage.receiver.delays(100)
  await emitSteadily(stage, outputs, 50, 10)
  const delays = await stage.receiver.delays(500)
  await worker.stop()
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)]
  const what = 'From the event to the first byte at its receiver, 50 events a second'
  return [
    { what: `${what}, p50`, measured: `${p50} ms`, wanted: 'under 50 ms', holds: p50 < 50 },
    { what: `${what}, p99`, measured: `${p99} ms`, wanted: 'under 500 ms', holds: p99 < 500 },
  ]
}

async function throughput(stage: Stage): Promise<Finding[]> {
  const count = 6000
  const outputs = await outputsTo(stage, `${stage.receiver.url}/ok`, 1)
  await emitAtOnce(stage, outputs, count)
  const worker = await startWorker(stage)
  const startedMs = performance.now()
  await stage.receiver.delays(count)
  const perSecond = Math.round(count / ((performance.now() - startedMs) / 1000))
  const cpuSeconds = await worker.stop()
  const perCore = Math.round(count / cpuSeconds)
  const what = 'Deliveries to one receiver that answers at once'
  return [
    {
      what: `${what}, by the clock`,
      measured: `${perSecond} a second`,
      wanted: '300 a second',
      holds: perSecond >= 300,
    },
    {
      what: `${what}, by one core's time`,
      measured: `${perCore} a second`,
      wanted: '300 a second',
      holds: perCore >= 300,
    },
  ]
}

async function hanging(stage: Stage): Promise<Finding[]> {
  const good = await outputsTo(stage, `${stage.receiver.url}/ok`, 40)
  const bad = await outputsTo(stage, `${stage.receiver.url}/hang`, 10)
  const worker = await startWorker(stage)
  const seconds = 25
  await emitSteadily(stage, [...good, ...bad], 50, seconds)
  const delays = await stage.receiver.delays(seconds * 50 * 0.8)
  await worker.stop()
  const p99 = percentile(delays, 0.99)
  const what = 'The same to the others at one host while a fifth of the receivers hang until timeout, p99'
  return [{ what, measured: `${p99} ms`, wanted: 'under 2000 ms', holds: p99 < 2000 }]
}

/** Warm before it is measured: the first events of a process pay for loading. */
async function startWorker({ databaseUrl }: Stage) {
  const worker = await startWebhookWorkerProcess(databaseUrl, { QUIET: '1' })
  await worker.printed('ready')
  return worker
}

function outputsTo({ db }: Stage, url: string, count: number): Promise<Output[]> {
  return Promise.all(Array.from({ length: count }, () => addOutput(db, url)))
}

async function emit({ db, queue }: Stage, output: Output): Promise<void> {
  const fileId = await addFile(db, output)
  await db.transaction((tx) => emitFileEvent(tx, { queue, clock: systemClock }, fileId))
}

async function emitSteadily(
  stage: Stage,
  outputs: Output[],
  perSecond: number,
  seconds: number,
): Promise<void> {
  const startedMs = performance.now()
  const emitting: Promise<void>[] = []
  for (let n = 0; n < perSecond * seconds; n++) {
    await pause(Math.max(0, startedMs + (n * 1000) / perSecond - performance.now()))
    emitting.push(emit(stage, outputs[n % outputs.length]!))
  }
  await Promise.all(emitting)
}

async function emitAtOnce(stage: Stage, outputs: Output[], count: number): Promise<void> {
  let left = count
  const emitters = Array.from({ length: 16 }, async () => {
    while (left-- > 0) await emit(stage, outputs[left % outputs.length]!)
  })
  await Promise.all(emitters)
}

type Receiver = { url: string; delays(count: number): Promise<number[]>; stop(): void }

async function startReceiver(): Promise<Receiver> {
  const child = fork(join(import.meta.dirname, 'webhook-receiver.ts'))
  const [port] = (await once(child, 'message')) as [number]
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    /** Those of the next so many events, when they are all there. */
    async delays(count) {
      const all: number[] = []
      while (all.length < count) {
        all.push(...((await (await fetch(url)).json()) as number[]))
        await pause(20)
      }
      return all
    },
    stop: () => child.kill(),
  }
}
