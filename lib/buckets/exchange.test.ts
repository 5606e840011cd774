import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDrippingBucket } from '../../test/support/dripping-bucket.ts'
import { exchange, type ResponseMemory } from './exchange.ts'

const KiB = 1024
const MiB = 1024 * KiB
let refuse = false
const server = createServer((req, res) => {
  res.writeHead(refuse ? 503 : 200).end(Buffer.alloc(Number(req.url!.slice(1))))
})
const agent = new Agent()
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  agent.destroy()
  server.close()
})

function get(bytes: number, wantedBytes?: number, memory?: ResponseMemory) {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return exchange({
    url,
    agent,
    method: 'GET',
    path: `/${bytes}`,
    headers: {},
    body: [],
    wantedBytes,
    memory,
    silenceMs: 10_000,
    deadlineMs: 10_000,
  })
}

function countingMemory(limitBytes = Infinity) {
  const memory = {
    heldBytes: 0,
    peakBytes: 0,
    take(bytes: number) {
      if (memory.heldBytes + bytes > limitBytes) return false
      memory.heldBytes += bytes
      memory.peakBytes = Math.max(memory.peakBytes, memory.heldBytes)
      return true
    },
    give(bytes: number) {
      memory.heldBytes -= bytes
    },
  }
  return memory
}

it('reads responses of up to 64 KiB and rejects longer ones', async () => {
  const memory = countingMemory()
  expect((await get(64 * KiB, undefined, memory)).body).toHaveLength(64 * KiB)
  await expect(get(64 * KiB + 1, undefined, memory)).rejects.toThrow('too long')
  expect(memory).toMatchObject({ heldBytes: 0, peakBytes: 64 * KiB })
})

it('does not count requested object bytes, whose memory the caller counts', async () => {
  const memory = countingMemory()
  expect((await get(8 * MiB, 8 * MiB, memory)).body).toHaveLength(8 * MiB)
  await expect(get(8 * MiB + 1, 8 * MiB, memory)).rejects.toThrow('too long')
  expect(memory).toMatchObject({ heldBytes: 0, peakBytes: 0 })
})

it('truncates a refusal that is too long', async () => {
  refuse = true
  const { status, body } = await get(MiB, 8 * MiB).finally(() => {
    refuse = false
  })
  expect({ status, bytes: body.length }).toEqual({ status: 503, bytes: 64 * KiB })
})

it('rejects a response if there is not enough memory for it', async () => {
  const memory = countingMemory(2 * KiB)
  await expect(get(3 * KiB, undefined, memory)).rejects.toThrow('no memory')
  expect(memory.heldBytes).toBe(0)
  expect((await get(2 * KiB, undefined, memory)).body).toHaveLength(2 * KiB)
})

it('times out at the deadline if the response arrives byte by byte', async () => {
  const bucket = await startDrippingBucket()
  const asked = exchange({
    url: new URL(bucket.endpoint),
    agent,
    method: 'PUT',
    path: '/',
    headers: {},
    body: [Buffer.from('x')],
    silenceMs: 10_000,
    deadlineMs: 600,
  })
  await expect(asked).rejects.toMatchObject({ code: 'timeout', message: 'not done after 600 ms' })
  await bucket.close()
})

/** Accepts the written bytes, but only acknowledges them after the response, like a nearby bucket. */
class QuickBucket extends Socket {
  override _read() {}
  override _writev(_: unknown, taken: () => void) {
    this.push('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    setImmediate(taken)
  }
}

it('keeps the connection if the response arrives before the callback that confirms the write', async () => {
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
    exchange({
      url,
      agent: quick,
      method: 'PUT',
      path: '/',
      headers: {},
      body,
      silenceMs: 10_000,
      deadlineMs: 10_000,
    })
  for (const _ of [1, 2]) expect((await put()).status).toBe(200)
  expect(opened).toHaveLength(1)
  quick.destroy()
})

describe('over TLS', () => {
  const body = Array.from({ length: 32 }, (_, n) => Buffer.alloc(64 * KiB, n))

  /** Stands in for the encrypted connection: `take` gets each write, and calls back when the next may follow. */
  async function put(take: (connection: Socket, bytes: Buffer, taken: () => void) => void) {
    class Connection extends Socket {
      override _read() {}
      override _writev = null as never
      override _write(bytes: Buffer | string, _: string, taken: () => void) {
        take(this, Buffer.from(bytes as string, 'latin1'), taken)
      }
    }
    const connection = new Connection()
    class OneAgent extends HttpsAgent {
      override createConnection() {
        return connection
      }
    }
    const agent = new OneAgent()
    const url = new URL('https://bucket.example')
    const headers = { 'content-length': String(32 * 64 * KiB) }
    const patience = { silenceMs: 10_000, deadlineMs: 10_000 }
    const answer = await exchange({ url, agent, method: 'PUT', path: '/', headers, body, ...patience })
    return { answer, connection }
  }

  it('writes each chunk after the previous one has been sent', async () => {
    const all: Buffer[] = []
    let maxBytes = 0
    const { answer } = await put((connection, bytes, taken) => {
      maxBytes = Math.max(maxBytes, connection.writableLength)
      all.push(bytes)
      setImmediate(taken)
      if (bytes.at(-1) === 31) connection.push('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
    expect(answer.status).toBe(200)
    const sent = Buffer.concat(all)
    expect(sent.subarray(sent.indexOf('\r\n\r\n') + 4).equals(Buffer.concat(body))).toBe(true)
    expect(maxBytes).toBeLessThan(66 * KiB)
  })

  it('stops writing once the bucket has refused the request', async () => {
    let chunks = 0
    const { answer, connection } = await put((connection, bytes, taken) => {
      if (bytes.length === 64 * KiB) {
        chunks += 1
        connection.push('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')
        connection.once('close', () => taken())
      } else taken()
    })
    expect(answer.status).toBe(403)
    expect({ chunks, destroyed: connection.destroyed }).toEqual({ chunks: 1, destroyed: true })
  })
})

describe('a response that arrives before the entire body was written', () => {
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
        deadlineMs: 10_000,
      })
    } finally {
      bucket.close()
    }
  }

  it('is returned even if the bucket resets the connection right after it', async () => {
    const answer = await put((connection) => connection.write(refusal, () => connection.resetAndDestroy()))
    expect(answer.status).toBe(403)
  })

  it('closes the connection', async () => {
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
