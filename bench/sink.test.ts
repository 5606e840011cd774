import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sink, startSink } from './processes.ts'

let sink: Sink
beforeAll(async () => {
  sink = await startSink()
})
afterAll(() => sink?.stop())

const post = (query: string, body = '', headers: Record<string, string> = {}) =>
  fetch(`${sink.url}/media/key?${query}`, { method: 'POST', body, headers })
const CHECKSUMS = { 'x-amz-checksum-algorithm': 'CRC32' }

it.each([
  { numbers: [1, 2, 4], headers: CHECKSUMS, status: 400 },
  { numbers: [2, 3], headers: CHECKSUMS, status: 400 },
  { numbers: [1, 2, 3], headers: CHECKSUMS, status: 200 },
  { numbers: [1, 2, 4], headers: {}, status: 200 },
])('responds to part numbers $numbers with headers $headers as AWS does: $status', async (one) => {
  const before = await sink.refusals()
  const [, id] = /<UploadId>(.*)<\/UploadId>/.exec(await (await post('uploads=', '', one.headers)).text())!
  const parts = one.numbers.map((number) => `<Part><PartNumber>${number}</PartNumber></Part>`)
  expect((await post(`uploadId=${id}`, parts.join(''))).status).toBe(one.status)
  expect(await sink.refusals()).toBe(before + (one.status === 400 ? 1 : 0))
})

it('returns an object that an AWS SDK sent in chunks', async () => {
  const url = `${sink.url}/media/key.info`
  const headers = { 'x-amz-decoded-content-length': '5' }
  const body = '3\r\nabc\r\n2\r\nde\r\n0\r\nx-amz-checksum-crc32:AA\r\n\r\n'
  await fetch(url, { method: 'PUT', headers, body })
  expect(await (await fetch(url)).text()).toBe('abcde')
})
