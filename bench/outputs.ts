import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { rows } from '../lib/platform/db/database.ts'
import { openPostgres } from '../lib/platform/db/open-postgres.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { addOutput } from '../test/support/webhook-rows.ts'
import type { Finding } from './cases.ts'
import { inTurns } from './in-turns.ts'
import { percentile, steadily } from './load.ts'
import { measurePostgres, usageOf } from './postgres-usage.ts'
import { emit, openStage, startReceiver, startWorker } from './webhook-stage.ts'

/**
 * Sends the same events at the same time in two databases, each with a worker: to a single output, and to the same
 * output next to one that never responds. The machine's other load affects both.
 */
export async function benchBesideDead(serverUrl: string): Promise<Finding[]> {
  await using alone = await openStage(serverUrl)
  await using beside = await openStage(serverUrl)
  const [one, other] = [
    await addOutput(alone.db, `${alone.receiver.url}/ok`),
    await addOutput(beside.db, `${beside.receiver.url}/ok`),
  ]
  const { workspaceId, pipeId } = other
  const dead = { workspaceId, pipeId: null, furtherPipeId: pipeId }
  await addOutput(beside.db, `${beside.receiver.url}/hang`, dead)
  const workers = [await startWorker(alone), await startWorker(beside)]
  const run = async (seconds: number) => {
    const pace = { perSecond: 100, seconds }
    await steadily(pace, (n) => (n % 2 === 0 ? emit(alone, one) : emit(beside, other)))
    const each = (pace.perSecond * seconds) / 2
    return [await alone.receiver.delays(each), await beside.receiver.delays(each)]
  }
  await run(3)
  const delays = await run(60)
  for (const worker of workers) await worker.stop()
  const at = (share: number) => delays.map((all) => percentile(all, share)) as [number, number]
  const [p99, p99Beside] = at(0.99)
  const [p50, p50Beside] = at(0.5)
  return [
    {
      what: 'Delay of a healthy output next to a dead one, 50 events a second, p99',
      measured: `${p99Beside} ms (alone ${p99} ms; p50 ${p50Beside} and ${p50} ms)`,
      wanted: '≤ 1.1 times its delay alone',
      holds: p99Beside <= p99 * 1.1,
    },
  ]
}

const DELIVERIES_PER_SECOND = 860
const MEASURED_SECONDS = 3

type Cost = { cpuMs: number; events: number; deliveries: number }

/**
 * Measures the cost of an event for one output and for five: the CPU time of everything involved except the receiver.
 * The number of deliveries per second is the same in both cases.
 */
export async function benchOutputs(serverUrl: string): Promise<Finding[]> {
  const counted = new Map<number, Cost>()
  const of = async (outputs: number) => {
    const cost = await costOf(serverUrl, outputs)
    counted.set(outputs, cost)
    return cost.cpuMs
  }
  const [one, five] = (await inTurns(of, [1, 5])) as [number, number]
  const { events, deliveries } = counted.get(5)!
  const what = `CPU time of an event, ${DELIVERIES_PER_SECOND} deliveries a second`
  return [
    {
      what: `${what}, to five outputs`,
      measured: `${five.toFixed(2)} ms, ${(five / one).toFixed(1)} times (one output ${one.toFixed(2)} ms)`,
      wanted: '≤ 5 times',
      holds: five <= one * 5,
    },
    {
      what: 'Rows for an event with five outputs',
      measured: `${events} of the event, ${deliveries} deliveries`,
      wanted: '1 and 5',
      holds: events === 1 && deliveries === 5,
    },
  ]
}

async function costOf(serverUrl: string, outputs: number): Promise<Cost> {
  const { url: databaseUrl, drop } = await createDatabase(serverUrl)
  const receiver = await startReceiver()
  const env = { DATABASE_URL: databaseUrl, OUTPUTS: String(outputs) }
  const emitter = fork(join(import.meta.dirname, 'webhook-emitter.ts'), {
    env: { ...process.env, ...env, RECEIVER: `${receiver.url}/ok` },
  })
  await once(emitter, 'message')
  const worker = await startWorker({ databaseUrl })
  const database = openPostgres({ address: databaseUrl })
  const [backend] = await rows<{ pid: number }>(database.db, sql`select pg_backend_pid() as pid`)
  const usageOfPostgres = measurePostgres(backend!.pid)
  const used = () => usageOf(worker.pid).cpuSeconds + usageOfPostgres().cpuSeconds
  const perSecond = DELIVERIES_PER_SECOND / outputs
  const send = async (seconds: number) => {
    emitter.send({ perSecond, seconds })
    const [{ cpuSeconds }] = (await once(emitter, 'message')) as [{ cpuSeconds: number }]
    await receiver.delays(DELIVERIES_PER_SECOND * seconds)
    return cpuSeconds
  }
  await send(1)
  const usedBefore = used()
  const emitting = await send(MEASURED_SECONDS)
  const seconds = emitting + used() - usedBefore
  const [written] = await rows<{ events: number; deliveries: number }>(
    database.db,
    sql`select (select count(*)::int from events) as events, (select count(*)::int from deliveries) as deliveries`,
  )
  await worker.stop()
  const exited = once(emitter, 'exit')
  emitter.kill()
  await exited
  receiver.stop()
  await database.close()
  await drop()
  const all = perSecond * (MEASURED_SECONDS + 1)
  return {
    cpuMs: (seconds * 1000) / (perSecond * MEASURED_SECONDS),
    events: written!.events / all,
    deliveries: written!.deliveries / all,
  }
}
