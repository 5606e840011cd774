import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../platform/kernel/clock.ts'
import { probeBucket } from './probe-bucket.ts'
import { capabilitiesOf } from './providers.ts'

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Returns the findings for an endpoint that responds to everything like this. */
async function probe(status: number, body: string): Promise<{ name: string; message: string }[]> {
  server = createServer((req, res) => {
    req.resume()
    res.on('error', () => {})
    res.writeHead(status, { 'Content-Type': 'application/xml' }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const capabilities = capabilitiesOf('other', null)
  const credentials = { accessKeyId: 'KEY', secretAccessKey: 'a-secret' }
  const place = { region: 'us-east-1', bucket: 'media', prefix: '', forcePathStyle: true, credentials }
  const { operations } = await probeBucket(
    { ...place, endpoint: `http://127.0.0.1:${port}`, storageClass: null, encryption: null, capabilities },
    { allowedPrivateHosts: ['*'], clock: systemClock },
  )
  return operations
}

const strange = (words: string) =>
  probe(400, `<Error><Code>Strange</Code><Message>${words}</Message></Error>`)

it('says what to check if something that is not S3 responds', async () => {
  expect(await probe(404, '<h1>Not Found</h1>')).toMatchObject([
    {
      name: 'PutObject',
      message:
        'The endpoint responded with HTTP 404, without an error that says why. Check that it is the endpoint of a storage service.',
    },
  ])
})

it('reads at most 64 KiB of a response', async () => {
  expect(await strange('a'.repeat(8 * 1024 * 1024))).toMatchObject([
    { name: 'PutObject', message: 'The bucket responded with 400 Strange.' },
  ])
})

it('shortens a long message from the endpoint', async () => {
  const [refused] = await strange(`Strange${'a'.repeat(10_000)}`)
  expect(refused!.message).toMatch(/^The bucket responded with 400 Strange: Strangea{100,1000}$/)
  expect(refused!.message.length).toBeLessThanOrEqual(1000)
})
