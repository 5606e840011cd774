import { addOutput } from '../test/support/webhook-rows.ts'
import type { Finding } from './cases.ts'
import { percentile, steadily } from './load.ts'
import { emit, openStage, type Stage, startWorker } from './webhook-stage.ts'

/**
 * Measures the time from the transaction that writes an event until its receiver has the webhook. The worker, the
 * receiver and this program run in their own processes on one machine with PostgreSQL, so the figures include
 * everything but the network.
 */
type Output = { id: string; workspaceId: string; pipeId: string }

export async function benchWebhooks(serverUrl: string): Promise<Finding[]> {
  await using stage = await openStage(serverUrl)
  return [...(await latency(stage)), ...(await throughput(stage)), ...(await hanging(stage))]
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
  const what = 'Deliveries to one receiver that responds immediately'
  return [
    {
      what: `${what}, throughput`,
      measured: `${perSecond} a second`,
      wanted: '300 a second',
      holds: perSecond >= 300,
    },
    {
      what: `${what}, per core`,
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
  const what = 'Delay of the other receivers at one host while a fifth of them hang until they time out, p99'
  return [{ what, measured: `${p99} ms`, wanted: 'under 2000 ms', holds: p99 < 2000 }]
}

function outputsTo({ db }: Stage, url: string, count: number): Promise<Output[]> {
  return Promise.all(Array.from({ length: count }, () => addOutput(db, url)))
}

function emitSteadily(stage: Stage, outputs: Output[], perSecond: number, seconds: number): Promise<void> {
  return steadily({ perSecond, seconds }, (n) => emit(stage, outputs[n % outputs.length]!))
}

async function emitAtOnce(stage: Stage, outputs: Output[], count: number): Promise<void> {
  let left = count
  const emitters = Array.from({ length: 16 }, async () => {
    while (left-- > 0) await emit(stage, outputs[left % outputs.length]!)
  })
  await Promise.all(emitters)
}
