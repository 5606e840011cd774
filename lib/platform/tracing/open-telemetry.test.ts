import { afterEach, beforeEach, expect, it } from 'vitest'
import { startTraceCollector } from '../../../test/support/trace-collector.ts'
import { createLogger } from '../log/log.ts'
import { openTelemetry } from './open-telemetry.ts'
import type { SpanOptions } from './span.ts'

/** The number of spans that are sent together. Fewer spans wait for five seconds, or until tracing stops. */
const BATCH = 512
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const parentOf = (flags: string) => `00-${TRACE}-b7ad6b7169203331-${flags}`

let collector: Awaited<ReturnType<typeof startTraceCollector>>
let lines: { level: number; msg: string }[]
beforeEach(async () => {
  collector = await startTraceCollector()
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url
  lines = []
})
afterEach(async () => {
  delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
  await collector.close()
})

const open = (keptShare = 1) =>
  openTelemetry(
    { keptShare, roles: ['web'] },
    createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) }),
  )
const trace = ({ tracer }: ReturnType<typeof open>, options: SpanOptions = {}) =>
  tracer('work', async (traceparent) => traceparent, options)

it("continues its parent's trace and sampling decision", async () => {
  const tracing = open(0)
  expect(await trace(tracing, { parent: parentOf('01') })).toMatch(new RegExp(`^00-${TRACE}-.{16}-01$`))
  expect(await trace(tracing, { parent: parentOf('00') })).toMatch(new RegExp(`^00-${TRACE}-.{16}-00$`))
  expect(await trace(tracing)).toMatch(/-00$/)
  await tracing.stop()
  expect(collector.spans).toMatchObject([{ traceId: TRACE, parentSpanId: 'b7ad6b7169203331', name: 'work' }])
})

it('reports only the code of a failure', async () => {
  const tracing = open()
  const failed = Object.assign(new Error('the secret is whsec_x'), { code: 'refused' })
  await expect(tracing.tracer('work', () => Promise.reject(failed), {})).rejects.toBe(failed)
  await tracing.stop()
  expect(collector.spans).toMatchObject([{ statusCode: 2, attributes: { 'error.type': 'refused' } }])
  expect(JSON.stringify(collector.spans, (_, value) => String(value))).not.toContain('whsec_')
})

it('logs a line when the collector goes down, and one when it is back', async () => {
  const tracing = open()
  const send = () => Promise.all(Array.from({ length: BATCH }, () => trace(tracing)))
  collector.answerWith(400)
  for (let batches = 1; batches <= 2; batches++) {
    await send()
    await expect.poll(() => collector.refused()).toBe(batches)
  }
  await expect.poll(() => lines.length).toBe(1)
  collector.answerWith(200)
  for (let batches = 1; batches <= 2; batches++) {
    await send()
    await expect.poll(() => collector.spans.length).toBe(batches * BATCH)
  }
  await tracing.stop()
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [40, 'the trace collector is not accepting traces'],
    [30, 'the trace collector is accepting traces again'],
  ])
})
