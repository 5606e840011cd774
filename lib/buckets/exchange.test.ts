import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exchange } from './exchange.ts'

const MiB = 1024 * 1024
const server = createServer((req, res) => res.end(Buffer.alloc(Number(req.url!.slice(1)))))
const agent = new Agent()
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  agent.destroy()
  server.close()
})

function get(bytes: number, wantedBytes?: number) {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return exchange({
    ...{ url, agent, method: 'GET', path: `/${bytes}`, headers: {}, body: [] },
    ...{ wantedBytes, silenceMs: 10_000 },
  })
}

it('reads an answer of 1 MiB, and not a byte more', async () => {
  expect((await get(MiB)).body).toHaveLength(MiB)
  await expect(get(MiB + 1)).rejects.toThrow('too long')
})

it('reads beside that what was asked for of an object', async () => {
  expect((await get(8 * MiB, 8 * MiB)).body).toHaveLength(8 * MiB)
  await expect(get(9 * MiB + 1, 8 * MiB)).rejects.toThrow('too long')
})

/** Takes what is written, but tells of it only after the answer, as a bucket nearby may. */
class QuickBucket extends Socket {
  override _read() {}
  override _writev(_: unknown, taken: () => void) {
    this.push('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    setImmediate(taken)
  }
}

it('keeps the connection of a body whose answer comes before the news that it was taken', async () => {
  const opened: Socket[] = []
  class QuickAgent extends Agent {
    override createConnection() {
      const connection = new QuickBucket()
      opened.push(connection)
      return connection
    }
  }
  const quick = new QuickAgent({ keepAlive: true })
  const url = new URL('http://bucket.example')
  const body = [Buffer.alloc(MiB), Buffer.alloc(MiB)]
  const put = () =>
    exchange({ url, agent: quick, method: 'PUT', path: '/', headers: {}, body, silenceMs: 10_000 })
  for (const _ of [1, 2]) expect((await put()).status).toBe(200)
  expect(opened).toHaveLength(1)
  quick.destroy()
})

describe('an answer that comes before the body was taken', () => {
  const refusal = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'
  const put = async (answer: (connection: Socket) => void) => {
    const bucket = createTcpServer((connection) => {
      connection.on('error', () => {}).once('data', () => answer(connection.pause()))
    })
    await once(bucket.listen(0, '127.0.0.1'), 'listening')
    const url = new URL(`http://127.0.0.1:${(bucket.address() as AddressInfo).port}`)
    const body = [Buffer.alloc(32 * MiB)]
    const kept = new Agent({ keepAlive: true })
    try {
      return await exchange({
        url,
        agent: kept,
        method: 'PUT',
        path: '/',
        headers: {},
        body,
        silenceMs: 10_000,
      })
    } finally {
      bucket.close()
    }
  }

  it('stands, though the bucket resets the connection right behind it', async () => {
    const answer = await put((connection) => connection.write(refusal, () => connection.resetAndDestroy()))
    expect(answer.status).toBe(403)
  })

  it('ends the connection', async () => {
    const ended = Promise.withResolvers<unknown>()
    const answer = await put((connection) => {
      connection.write(refusal)
      ended.resolve(once(connection, 'close'))
      connection.resume()
    })
    expect(answer.status).toBe(403)
    await ended.promise
  })
})
