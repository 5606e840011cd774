import { Counter, Gauge, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { Line } from './line.ts'
import { createSummedMetrics } from './summed-metrics.ts'

/** A process whose metrics are a counter, a gauge and a lag. */
function counting({ bytes, memory, lag }: { bytes: number; memory: number; lag: number }): Line {
  const registry = new Registry()
  const registers = [registry]
  new Counter({ name: 'bytes_total', help: 'x', registers, labelNames: ['how'] }).inc({ how: 'sent' }, bytes)
  new Gauge({ name: 'memory_bytes', help: 'x', registers }).set(memory)
  new Gauge({ name: 'nodejs_eventloop_lag_p99_seconds', help: 'x', registers, aggregator: 'average' }).set(
    lag,
  )
  // Copied through JSON, because that is how metrics arrive from another process.
  return { ask: async () => JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())) }
}

const valuesOf = (text: string) =>
  Object.fromEntries(text.split('\n').flatMap((line) => (/^\w/.test(line) ? [line.split(' ')] : [])))

it('adds up values, and shows the worst lag', async () => {
  const summed = createSummedMetrics(new Registry())
  summed.join('upload-1', counting({ bytes: 10, memory: 1, lag: 0.01 }))
  summed.join('upload-2', counting({ bytes: 20, memory: 2, lag: 0.5 }))
  expect(valuesOf(await summed.read())).toEqual({
    'bytes_total{how="sent"}': '30',
    memory_bytes: '3',
    nodejs_eventloop_lag_p99_seconds: '0.5',
  })
})

it('keeps the counters of a process that has ended, but not its other metrics', async () => {
  const summed = createSummedMetrics(new Registry())
  summed.join('upload-1', counting({ bytes: 10, memory: 1, lag: 0.01 }))
  summed.join('upload-2', counting({ bytes: 20, memory: 2, lag: 0.5 }))
  await summed.read()
  for (const bytes of [3, 4]) {
    summed.leave('upload-2')
    summed.join('upload-2', counting({ bytes, memory: 5, lag: 0.02 }))
    await summed.read()
  }
  expect(valuesOf(await summed.read())).toEqual({
    'bytes_total{how="sent"}': '37',
    memory_bytes: '6',
    nodejs_eventloop_lag_p99_seconds: '0.02',
  })
})

it('shows the last values of a process that does not respond', async () => {
  const summed = createSummedMetrics(new Registry())
  const line = counting({ bytes: 10, memory: 1, lag: 0.01 })
  const silent = { ask: line.ask }
  summed.join('upload-1', silent)
  await summed.read()
  silent.ask = async () => undefined
  expect(valuesOf(await summed.read())).toMatchObject({ 'bytes_total{how="sent"}': '10' })
})
