import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLogger } from '../../lib/platform/log/log.ts'
import { ask as askRaw, open as openRaw, requestHead } from '../../test/support/raw-http.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { frontDoor, type Handler, openDoor } from './front-door.ts'
import { openServer } from './open-server.ts'
import { relayTo, trustsRelay } from './relay.ts'
import type { ProxyTrust } from './trusted-proxies.ts'

/** The page process listens on a socket, and the process in front of it on a port. */
const lines: string[] = []
const log = createLogger('info', { write: (line) => void lines.push(line) })
let folder: string
let front: Server
let behind: Server
let connections = 0
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-relay-'))
  connections = 0
  lines.length = 0
  const relay = relayTo(join(folder, 'pages'))
  front = serve({ relay, uploads: (_, res) => void res.end('uploads') }, () => false).listen(0, '127.0.0.1')
  await once(front, 'listening')
})
afterEach(() => {
  vi.useRealTimers()
  for (const server of [front, behind]) {
    server?.close()
    server?.closeAllConnections()
  }
  rmSync(folder, { recursive: true })
})

type Answer = (req: IncomingMessage, res: ServerResponse) => unknown
type Answers = { relay?: Handler; uploads?: Answer; pages?: Answer }

function serve({ relay, uploads, pages }: Answers, trusts: ProxyTrust): Server {
  const runtime = testRuntime({} as never, { BASE_URL: 'http://sluice.test', ACCESS_LOG: 'all' })
  const handler = (answer?: Answer) =>
    answer && (async (...given: Parameters<Answer>) => void answer(...given))
  const handlers = { relay, uploads: handler(uploads), pages: handler(pages) }
  const opened = openDoor({ ...runtime, log }, handlers, { findLinkHost: async () => undefined })
  const door = frontDoor(Promise.resolve(opened), { log, trusts })
  return openServer(door, { tls: undefined, log }).on('checkContinue', door)
}

async function answerWith(pages: Answer): Promise<void> {
  behind = serve({ pages }, trustsRelay).on('connection', () => (connections += 1))
  await once(behind.listen(join(folder, 'pages')), 'listening')
}

type Asked = { method?: string; headers?: Record<string, string>; body?: string }

function send(path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  const { port } = front.address() as AddressInfo
  const asked = request({
    port,
    host: '127.0.0.1',
    path,
    method,
    headers: { host: 'sluice.test', ...headers },
  })
  if (headers.expect) asked.once('continue', () => asked.end(body))
  else asked.end(body)
  return asked
}

async function ask(path: string, asked?: Asked) {
  const [answer] = (await once(send(path, asked), 'response')) as [IncomingMessage]
  return { answer, body: await text(answer) }
}

it("passes on the client's address, but no headers that the client forged", async () => {
  let headers: IncomingMessage['headers'] = {}
  await answerWith((req, res) => {
    headers = req.headers
    res.end('page')
  })
  const forged = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'evil.example',
    'x-request-id': 'an-id-of-the-client',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  }
  const { answer, body } = await ask('/dashboard?a=b', { headers: forged })
  expect([answer.statusCode, body]).toEqual([200, 'page'])
  expect(headers).toMatchObject({
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    host: 'sluice.test',
    'x-request-id': answer.headers['x-request-id'],
  })
  expect(headers.traceparent).toBeUndefined()
  await expect.poll(() => lines).toHaveLength(1)
  const line = JSON.parse(lines[0]!)
  expect(line).toMatchObject({ client: '127.0.0.1', route: '/dashboard', status: 200 })
  expect(line.requestId).toBe(answer.headers['x-request-id'])
})

it('does not relay uploads, and leaves the host check to the page process', async () => {
  await answerWith((_, res) => void res.end('page'))
  expect((await ask('/pipes/pipe_x/files/')).body).toBe('uploads')
  expect((await ask('/dashboard', { headers: { host: 'evil.example' } })).answer.statusCode).toBe(421)
})

it('passes on bodies and headers unchanged, over one connection', async () => {
  await answerWith(async (req, res) => {
    const body = await text(req)
    res.setHeader('Set-Cookie', ['a=1', 'b=2'])
    res.writeHead(201, 'Made').end(`${req.method} ${body}`)
  })
  const { answer, body } = await ask('/api/v1/imports/batch', { method: 'POST', body: 'x'.repeat(200_000) })
  expect([answer.statusCode, answer.statusMessage, body.length]).toEqual([201, 'Made', 200_005])
  expect(answer.headers['set-cookie']).toEqual(['a=1', 'b=2'])
  expect((await ask('/api/v1/pipes/x', { method: 'DELETE' })).body).toBe('DELETE ')
  const expecting = { method: 'POST', headers: { expect: '100-continue' }, body: 'after the word' }
  expect((await ask('/api/v1/pipes', expecting)).body).toBe('POST after the word')
  expect(connections).toBe(1)
})

it.each([
  ['GET', ''],
  ['POST', 'a=1'],
])(
  'accepts a %s request that announces trailers, and does not pass on the Trailer header',
  async (method, body) => {
    await answerWith(async (req, res) => void res.end(`${req.headers.trailer} ${await text(req)}`))
    const { port } = front.address() as AddressInfo
    const url = new URL(`http://127.0.0.1:${port}/x`)
    const answer = await askRaw(method, url, { Host: 'sluice.test', Trailer: 'a' }, body)
    expect([answer.status, answer.body]).toEqual([200, `undefined ${body}`])
  },
)

it('passes on events as they arrive, and ends the stream when the client disconnects', async () => {
  const gone = Promise.withResolvers<void>()
  await answerWith((_, res) => {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    setImmediate(() => res.write('data: 1\n\n'))
    res.once('close', gone.resolve)
  })
  const asked = send('/api/v1/events')
  asked.on('error', () => {})
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.on('error', () => {})
  expect(String((await once(answer, 'data'))[0])).toBe('data: 1\n\n')
  asked.destroy()
  await gone.promise
})

it("responds to a client that has closed its side, and ends such a client's event stream", async () => {
  const answering = Promise.withResolvers<void>()
  const [streaming, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await answerWith(async (req, res) => {
    if (req.url === '/page') {
      await answering.promise
      return void res.end('page')
    }
    res.once('close', gone.resolve)
    res.writeHead(200, { 'Content-Type': 'text/event-stream' }).flushHeaders()
    streaming.resolve()
  })
  const { port } = front.address() as AddressInfo
  const open = (path: string) => {
    const url = new URL(`http://127.0.0.1:${port}${path}`)
    const connection = openRaw(url, { allowHalfOpen: true })
    connection.write(requestHead('GET', url, { Host: 'sluice.test' }))
    return connection
  }
  await using page = open('/page')
  await once(front, 'request')
  page.socket.end()
  answering.resolve()
  expect((await page.answer('GET')).body).toBe('page')
  await using stream = open('/events')
  await streaming.promise
  stream.socket.end()
  await gone.promise
})

it('aborts the response if the page process aborts it', async () => {
  await answerWith((_, res) => {
    res.write('half')
    setImmediate(() => res.destroy())
  })
  const [answer] = (await once(send('/dashboard'), 'response')) as [IncomingMessage]
  await expect(text(answer)).rejects.toThrow('aborted')
})

it('waits for a page process that is starting', async () => {
  const answered = ask('/dashboard')
  await once(front, 'request')
  await answerWith((_, res) => void res.end('page'))
  expect((await answered).body).toBe('page')
})

it('returns 503 if the page process does not start, or dies during the request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const answered = ask('/dashboard')
  await once(front, 'request')
  const passing = setInterval(() => void vi.advanceTimersByTimeAsync(1000), 1)
  const { answer } = await answered
  clearInterval(passing)
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
  await answerWith((req) => void req.socket.destroy())
  expect((await ask('/dashboard')).answer.statusCode).toBe(503)
})
