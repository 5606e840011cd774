import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { attempts, deliveries } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { dispatching } from '../../../test/support/dispatching.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addOutput } from '../../../test/support/webhook-rows.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'

let database: DatabaseHandle
let runtime: TestRuntime
beforeAll(async () => {
  database = await openTestDatabase()
  runtime = testRuntime(database)
})
afterAll(() => database?.close())

const servers = new Set<Server>()
let connections = 0
afterEach(() => {
  connections = 0
  for (const server of servers) server.close()
  servers.clear()
})

/** A receiver that works with raw TCP connections, so that it can send any bytes. */
async function hostile(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    connections += 1
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  servers.add(server)
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Makes one attempt at this address, and returns its entry in the log. */
async function logOf(url: string, options: Parameters<typeof dispatching>[1] = {}) {
  const { event, work } = dispatching(runtime, options)
  const fileId = await event(await addOutput(runtime.db, url))
  await work()
  const [delivery] = await runtime.db.select().from(deliveries).where(eq(deliveries.fileId, fileId))
  const [attempt] = await runtime.db.select().from(attempts).where(eq(attempts.deliveryId, delivery!.id))
  return { state: delivery!.state, ...attempt! }
}

function flood(socket: Socket, start: string, chunk: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.write(start)
  socket.on('drain', more)
  more()
}

function drip(socket: Socket, start: string, text: string): void {
  socket.write(start)
  const timer = setInterval(() => socket.write(text), 20)
  socket.once('close', () => clearInterval(timer))
}

const OK = 'HTTP/1.1 200 OK\r\n'

describe('a receiver', () => {
  it.each([301, 302, 303, 307, 308])(
    'is not followed if it redirects with %d to a private address',
    async (status) => {
      const inside = await hostile((socket) => socket.end(`${OK}\r\n`))
      const outside = await hostile((socket) =>
        socket.end(`HTTP/1.1 ${status} Go\r\nLocation: http://${inside}/\r\nContent-Length: 0\r\n\r\n`),
      )
      expect(await logOf(`http://${outside}/`)).toMatchObject({
        state: 'pending',
        status,
        error: 'status',
        responseHeaders: { location: `http://${inside}/` },
      })
      expect(connections).toBe(1)
    },
  )

  it('is cut off after 16 KiB if it sends a body of 1 GB', async () => {
    const host = await hostile((socket) =>
      flood(socket, `${OK}Content-Length: 1073741824\r\n\r\n`, 'x'.repeat(65_536)),
    )
    const log = await logOf(`http://${host}/`)
    expect(log).toMatchObject({
      state: 'delivered',
      status: 200,
      errorDetail: expect.stringContaining('longer than 16 KiB'),
    })
    expect(log.responseBody).toHaveLength(16_384)
  })

  it.each<[string, (socket: Socket) => void, object, object?]>([
    [
      'sends endless headers',
      (s) => flood(s, OK, `X-A: ${'b'.repeat(500)}\r\n`),
      { error: 'status', errorDetail: /headers are larger than 16 KiB/ },
    ],
    [
      'sends its headers too slowly',
      (s) => drip(s, `${OK}X-A: `, 'b'),
      { error: 'timeout', errorDetail: /did not respond within/ },
      { totalMs: 400 },
    ],
    [
      'does not respond',
      () => {},
      { error: 'timeout', errorDetail: /did not respond within/ },
      { totalMs: 400 },
    ],
    [
      'closes the connection',
      (s) => s.destroy(),
      { error: 'connect', errorDetail: /closed without a response/ },
    ],
    [
      'uses another protocol',
      (s) => s.end('220 smtp.example.com ESMTP\r\n'),
      { error: 'status', errorDetail: /not HTTP/ },
    ],
    [
      'sends endless informational responses',
      (s) => flood(s, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
      { error: 'status', errorDetail: /informational/ },
    ],
  ])(
    'is cut off and reported if it %s',
    async (_, answer, { error, errorDetail }: { error?: string; errorDetail?: RegExp }, limits = {}) => {
      const log = await logOf(`http://${await hostile(answer)}/`, { limits })
      expect(log).toMatchObject({
        state: 'pending',
        status: null,
        error,
        errorDetail: expect.stringMatching(errorDetail!),
      })
    },
  )

  it('is cut off if it sends its body too slowly, but its status still counts', async () => {
    const host = await hostile((socket) =>
      drip(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n'),
    )
    expect(await logOf(`http://${host}/`, { limits: { bodyMs: 200 } })).toMatchObject({
      state: 'delivered',
      status: 200,
      errorDetail: expect.stringContaining('not complete'),
    })
  })
})

describe('a name for this machine', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    'localhost',
  ])('is blocked before a connection is opened: %s', async (host) => {
    const { port } = new URL(`http://${await hostile((socket) => socket.end(`${OK}\r\n`))}`)
    for (const protocol of ['http', 'https']) {
      const log = await logOf(`${protocol}://${host}:${port}/`, { allowed: [] })
      expect(log).toMatchObject({
        state: 'pending',
        status: null,
        error: 'blocked',
        errorDetail: expect.stringMatching(/public internet|reserved/),
      })
    }
    expect(connections).toBe(0)
  })
})

it('refuses a name that resolves to a public address first and to a private one afterwards', async () => {
  const { port } = new URL(`http://${await hostile((socket) => socket.end(`${OK}\r\n`))}`)
  const asked: string[] = []
  const resolve = async () => {
    asked.push(asked.length === 0 ? '93.184.216.34' : '127.0.0.1')
    return [{ address: asked.at(-1)!, family: 4 }]
  }
  // The name looks public to anyone who checks it beforehand.
  await resolve()
  const log = await logOf(`https://rebinding.example:${port}/`, { allowed: [], network: { resolve } })
  expect(log).toMatchObject({
    error: 'blocked',
    errorDetail: expect.stringMatching(/rebinding\.example is not on the public internet/),
  })
  expect(asked).toEqual(['93.184.216.34', '127.0.0.1'])
  expect(connections).toBe(0)
})

it('reports a host that does not resolve', async () => {
  const resolve = async () => {
    throw Object.assign(new Error('queryA ENOTFOUND gone.example'), { code: 'ENOTFOUND' })
  }
  expect(await logOf('https://gone.example/', { network: { resolve } })).toMatchObject({
    error: 'dns',
    errorDetail: expect.stringContaining('ENOTFOUND'),
  })
})
