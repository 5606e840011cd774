import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { RequestSource } from './request-source.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const KiB = 1024

/** A client whose bytes are taken by a request source, and the lengths of the chunks that arrived. */
async function begin(contentLength: number) {
  const chunks: number[] = []
  const begun: { body: IncomingMessage; source: RequestSource }[] = []
  const server = createServer((body: IncomingMessage, response) => {
    if (body.method === 'GET') return void response.end()
    const source = new RequestSource(body)
    begun.push({ body, source })
    source.start(
      (chunk) => chunks.push(chunk.length) && chunk.length,
      () => response.end(),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = request({
    port,
    host: '127.0.0.1',
    method: 'PATCH',
    headers: { 'Content-Length': contentLength },
  })
  client.on('error', () => {})
  onTestFinished(() => {
    client.destroy()
    server.close()
    server.closeAllConnections()
  })
  /** Waits until the server has read what it wants to read: it responds on other connections. */
  const read = async () => {
    for (let round = 0; round < 3; round++) await get(port)
  }
  const send = async (bytes: number) => {
    await new Promise<unknown>((resolve) => client.write(Buffer.alloc(bytes), resolve))
    await read()
  }
  const arrived = () => chunks.splice(0)
  const arrivedInAll = () => arrived().reduce((sum, bytes) => sum + bytes, 0)
  return { client, begun, send, read, arrived, arrivedInAll }
}

async function get(port: number): Promise<void> {
  const [response] = await once(request({ port, host: '127.0.0.1', agent: false }).end(), 'response')
  await once(response.resume(), 'end')
}

const halfASecond = () => void vi.advanceTimersByTime(500)

it('reads the bytes of a slow client twice a second', async () => {
  const { send, arrived } = await begin(1000 * KiB)
  await send(KiB)
  await send(KiB)
  expect(arrived()).toEqual([KiB, KiB])
  halfASecond()
  await send(KiB)
  expect(arrived()).toEqual([KiB])
  await send(KiB)
  await send(KiB)
  expect(arrived()).toEqual([])
  halfASecond()
  await send(KiB)
  expect(arrived()[0]).toBeGreaterThanOrEqual(2 * KiB)
})

it('reads the bytes of a faster client as they arrive', async () => {
  const { send, arrived, arrivedInAll } = await begin(1000 * KiB)
  await send(16 * KiB)
  halfASecond()
  expect(arrivedInAll()).toBe(16 * KiB)
  await send(KiB)
  await send(KiB)
  expect(arrived()).toEqual([KiB, KiB])
})

it('reads the end of a body as it arrives', async () => {
  const { client, send, arrived } = await begin(70 * KiB)
  await send(KiB)
  halfASecond()
  await send(5 * KiB)
  await send(KiB)
  expect(arrived()).toEqual([KiB, 5 * KiB, KiB])
  client.end(Buffer.alloc(63 * KiB))
  await once(client, 'response')
})

it('lets the rest of a body arrive once the source is stopped', async () => {
  const { client, send, begun, arrived } = await begin(1000 * KiB)
  await send(KiB)
  halfASecond()
  await send(KiB)
  await send(KiB)
  expect(arrived()).toEqual([KiB, KiB])
  const { source, body } = begun[0]!
  source.stop()
  client.end(Buffer.alloc(997 * KiB))
  await once(body.resume(), 'end')
})

it('leaves the socket paused while nobody takes the bytes', async () => {
  const { client, send, begun, read } = await begin(100_000 * KiB)
  await send(KiB)
  halfASecond()
  const { source, body } = begun[0]!
  source.pause()
  client.write(Buffer.alloc(50_000 * KiB))
  await expect.poll(() => body.socket.isPaused()).toBe(true)
  const before = body.socket.bytesRead
  for (let n = 0; n < 10; n++) {
    halfASecond()
    await read()
  }
  expect(body.socket.bytesRead).toBe(before)
})
