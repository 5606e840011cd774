import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { showFile } from '#lib/dashboard/files/show-file.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { saveOutput } from '#lib/webhooks/outputs/save-output.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { type Receiver, startReceiver } from '../../test/support/receiver.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'
import { startTraceCollector } from '../../test/support/trace-collector.ts'
import { located, tusWith } from '../../test/support/tus.ts'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

const MiB = 1024 * 1024
const SETTINGS = {
  ROLES: 'upload,worker',
  HOST: '127.0.0.1',
  BASE_URL: 'http://127.0.0.1:0',
  DATA_DIR: '/nowhere/is-needed',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  AUTH_SECRET: 'a secret of thirty-two characters',
  METRICS_TOKEN: 'a-token-for-metrics',
  ALLOWED_PRIVATE_HOSTS: '*',
  TRUSTED_PROXIES: '127.0.0.1',
  NODE_OPTIONS: `--import=${join(import.meta.dirname, '../../test/support/say-opentelemetry.mjs')}`,
}
const PROXY = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const REQUEST_ID = 'told-by-somebody-who-called-us'

let database: DatabaseHandle & { url: string }
let site: Site
let receiver: Receiver
let collector: Awaited<ReturnType<typeof startTraceCollector>>
/** Has stopped, and so has sent its traces, when the tests begin. */
let tracing: Sluice
let metrics: string
beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  receiver = await startReceiver()
  collector = await startTraceCollector()
  const output = { enabled: true, url: receiver.url, statuses: ['transferred' as const] }
  await saveOutput(site.runtime, site.actor, site.pipe.id, output)
  tracing = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const traceparent = `00-${PROXY.traceId}-${PROXY.spanId}-01`
  expect((await upload(tracing, randomBytes(16 * MiB), { traceparent })).status).toBe(204)
  await receiver.gets(1)
  const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
  site.bucket.faults.add({ operation: 'PutObject', times: 100, effect })
  expect((await upload(tracing, randomBytes(1000), { 'X-Request-Id': REQUEST_ID })).status).toBe(502)
  site.bucket.faults.clear()
  const headers = { Authorization: `Bearer ${SETTINGS.METRICS_TOKEN}` }
  metrics = await (await fetch(`${tracing.baseUrl}/metrics`, { headers })).text()
  expect(await tracing.stop()).toBe(0)
})
afterAll(async () => {
  await Promise.all([collector?.close(), receiver?.stop(), site?.close()])
  await database?.close()
})

const start = (settings: Record<string, string> = {}) =>
  startSluice({ ...SETTINGS, DATABASE_URL: database.url, ...settings })

async function upload(sluice: Sluice, bytes: Buffer, fields: Record<string, string> = {}) {
  const tus = tusWith(await site.token(), `${sluice.baseUrl}/pipes/${site.pipe.id}/files/`)
  const address = located(await tus.post({ 'Upload-Length': bytes.length }))
  const { status } = await tus.patch(address, 0, bytes, fields)
  return { fileId: fileIdOf(address), status }
}

/** The OpenTelemetry packages that were loaded, and the packages that loaded them. */
const loaded = (sluice: Sluice) => [...new Set(sluice.output().match(/(?<=^loaded ).+$/gm))]

it("shows a proxy's request as one trace, from its lease to its webhook", () => {
  const trace = collector.trace(PROXY.traceId)
  const [request] = trace
  expect(request).toMatchObject({
    name: 'PATCH /pipes/:id/files/:id',
    parentSpanId: PROXY.spanId,
    attributes: { 'http.response.status_code': 204, 'sluice.pipe_id': site.pipe.id },
  })
  const under = (parent: string) => trace.filter(({ parentSpanId }) => parentSpanId === parent)
  const names = under(request!.spanId).map(({ name }) => name)
  const parts = names.filter((name) => name === 'bucket UploadPart')
  expect(parts.length).toBeGreaterThan(1)
  expect(names.filter((name) => name === 'ledger advance').length).toBeGreaterThanOrEqual(parts.length)
  expect(new Set(names)).toEqual(
    new Set([
      ...['token', 'lease', 'bucket CreateMultipartUpload', 'bucket UploadPart', 'ledger advance'],
      ...['bucket CompleteMultipartUpload', 'ledger transferred', 'webhook'],
    ]),
  )
  const webhook = trace.find(({ name }) => name === 'webhook')!
  expect(under(webhook.spanId).map(({ name }) => name)).toEqual(['webhook claim', 'webhook send'])
  expect(receiver.received[0]!.headers.traceparent).toBe(`00-${PROXY.traceId}-${webhook.spanId}-01`)
  expect(trace.length).toBe(1 + names.length + 2)
  for (const { startNs, endNs } of trace) expect(endNs).toBeGreaterThanOrEqual(startNs)
  expect([...collector.services]).toEqual(['sluice'])
})

it('finds the file, the reason, the metric and the trace of a failed PATCH by its X-Request-Id', async () => {
  const lines = tracing
    .output()
    .split('\n')
    .filter((line) => line.includes(REQUEST_ID))
  const line = lines.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'request')
  const { fileId, method, status, code, traceId } = line
  expect(line).toMatchObject({ status: 502, code: 'bucket_refused', pipeId: site.pipe.id })

  const { timeline } = await showFile(site.runtime, site.actor, fileId)
  expect(timeline).toContainEqual(
    expect.objectContaining({
      kind: 'bucket_refused',
      detail: expect.objectContaining({ requestId: REQUEST_ID, code: 'AccessDenied' }),
    }),
  )
  expect(metrics).toContain(
    `sluice_http_seconds_count{handler="tus",method="${method}",status="${status}"} 1\n`,
  )
  expect(metrics).toContain('sluice_bucket_requests_total{operation="PutObject",outcome="refused"} 1\n')

  const trace = collector.trace(traceId)
  expect(trace[0]).toMatchObject({
    name: 'PATCH /pipes/:id/files/:id',
    statusCode: 2,
    attributes: { 'sluice.request_id': REQUEST_ID, 'sluice.file_id': fileId, 'error.type': code },
  })
  expect(trace).toContainEqual(
    expect.objectContaining({ name: 'bucket PutObject', statusCode: 2, parentSpanId: trace[0]!.spanId }),
  )
})

it('loads no OpenTelemetry unless an endpoint for traces is set', { tags: 'long' }, async () => {
  const off = await start()
  expect((await upload(off, randomBytes(1000))).status).toBe(204)
  expect(await off.stop()).toBe(0)
  // Only the API package is loaded, because these packages depend on it. It does nothing on its own.
  expect(loaded(off).sort()).toEqual(
    ['pg-boss', 'prom-client'].map((name) => `@opentelemetry/api for ${name}`),
  )
  expect(loaded(tracing)).toContain('@opentelemetry/sdk-trace for sluice')
})
