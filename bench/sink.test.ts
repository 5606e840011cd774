import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sink, startSink } from './processes.ts'

let sink: Sink
beforeAll(async () => {
  sink = await startSink()
})
afterAll(() => sink?.stop())

const post = (query: string, body = '', headers: Record<string, string> = {}) =>
  fetch(`${sink.url}/media/key?${query}`, { method: 'POST', body, headers })

async function complete(numbers: number[], headers: Record<string, string>) {
  const [, id] = /<UploadId>(.*)<\/UploadId>/.exec(await (await post('uploads=', '', headers)).text())!
  const parts = numbers.map((number) => `<Part><PartNumber>${number}</PartNumber><ETag>"e"</ETag></Part>`)
  const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
  const answer = await post(`uploadId=${id}`, body)
  return { status: answer.status, text: await answer.text() }
}
const CHECKSUMS = { 'x-amz-checksum-algorithm': 'CRC32' }

it.each([[[1, 2, 4]], [[2, 3]]])(
  'refuses the part numbers %j of parts with checksums, as AWS does',
  async (numbers) => {
    const before = await sink.refusals()
    expect(await complete(numbers, CHECKSUMS)).toEqual({
      status: 400,
      text: expect.stringContaining('<Code>InvalidPartOrder</Code>'),
    })
    expect(await sink.refusals()).toBe(before + 1)
  },
)

it('accepts all other part numbers', async () => {
  const before = await sink.refusals()
  expect(await complete([1, 2, 3], CHECKSUMS)).toMatchObject({ status: 200 })
  expect(await complete([1, 2, 4], {})).toMatchObject({ status: 200 })
  expect(await sink.refusals()).toBe(before)
})

it('returns an object that an AWS SDK sent in chunks', async () => {
  const url = `${sink.url}/media/key.info`
  const headers = { 'x-amz-decoded-content-length': '5' }
  await fetch(url, {
    method: 'PUT',
    headers,
    body: '3\r\nabc\r\n2\r\nde\r\n0\r\nx-amz-checksum-crc32:AA\r\n\r\n',
  })
  expect(await (await fetch(url)).text()).toBe('abcde')
})
