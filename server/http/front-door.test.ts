import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noteRequest } from '../../lib/platform/kernel/request-context.ts'
import { createLogger } from '../../lib/platform/log/log.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { frontDoor, type Handlers, type Opened, openDoor } from './front-door.ts'
import { proxyTrust } from './trusted-proxies.ts'

let server: Server
let opening: PromiseWithResolvers<Opened>
beforeEach(async () => {
  opening = Promise.withResolvers()
  server = createServer(
    // Disabled so that the front door ends the connection in these tests. Node would otherwise close it, because it
    // treats a connection without bytes as idle.
    { keepAliveTimeout: 0 },
    frontDoor(opening.promise, { log: createLogger('silent'), trusts: proxyTrust(['127.0.0.1']) }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  vi.useRealTimers()
  server.close()
})

const ask = async (method: string, path: string) => {
  const arrived = once(server, 'request')
  const { port } = server.address() as AddressInfo
  const answer = fetch(`http://127.0.0.1:${port}${path}`, { method })
  await arrived
  return { answer }
}

function open(settings: Record<string, string> = {}, handlers: Handlers = {}) {
  const { port } = server.address() as AddressInfo
  const runtime = testRuntime({} as never, { BASE_URL: `http://127.0.0.1:${port}`, ...settings })
  const sign = (name: string) => async (_: unknown, res: { end(text: string): unknown }) => void res.end(name)
  const own = { uploads: sign('uploads'), api: sign('api'), pages: sign('pages'), ...handlers }
  opening.resolve(openDoor(runtime, own, { findLinkHost: async () => undefined }))
  return runtime
}

it('makes a request that arrives during startup wait until startup is complete', async () => {
  const { answer } = await ask('HEAD', '/pipes/pipe_x/files/y')
  open()
  expect((await answer).status).toBe(200)
})

it.each([
  ['HEAD', '/pipes/pipe_x/files/y', 423],
  ['POST', '/pipes/pipe_x/files/', 503],
  ['GET', '/dashboard', 503],
])('responds to %s %s with %i when startup takes a long time', async (method, path, status) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { answer } = await ask(method, path)
  await vi.advanceTimersByTimeAsync(10_000)
  expect((await answer).status).toBe(status)
})

it('responds to probes immediately', async () => {
  expect((await (await ask('GET', '/healthz')).answer).status).toBe(200)
  expect((await (await ask('GET', '/readyz')).answer).status).toBe(503)
  expect((await (await ask('GET', '/readyz?for=upload')).answer).status).toBe(503)
})

it.each([
  ['upload', '/readyz', 503],
  ['upload', '/readyz?for=upload', 200],
  ['web,worker', '/readyz?for=upload', 503],
])('without a database, a node with the roles %s responds to %s with %i', async (ROLES, path, status) => {
  open({ ROLES })
  expect((await (await ask('GET', path)).answer).status).toBe(status)
})

it.each([
  ['GET', '/pipes/pipe_x/files/', 'uploads'],
  ['POST', '/api/v1/tokens', 'api'],
  ['PROPFIND', '/api/v1/tokens', 'api'],
  ['POST', '/api/inbox/key', 'api'],
  ['GET', '/api/inbox/key', 'pages'],
  ['GET', '/api/v1/tokens', 'pages'],
  ['OPTIONS', '/api/v1/tokens', 'pages'],
  ['POST', '/api/v1/tokens/', 'pages'],
  ['POST', '/api/v1/tokens?x=1', 'pages'],
  ['POST', '/api/v1/tokens/x/revoke', 'pages'],
  ['POST', '/api/v1/pipes', 'pages'],
  ['GET', '/api/v1/openapi.json', 'pages'],
  ['GET', '/api/auth/csrf', 'pages'],
])('routes %s %s to %s', async (method, path, where) => {
  const { answer } = await ask(method, path)
  open()
  expect(await (await answer).text()).toBe(where)
})

it('returns 400 for an address that cannot be decoded, for which Next would return 500', async () => {
  const { answer } = await ask('GET', '/api/v1/files/%ff')
  open()
  const refused = await answer
  expect([refused.status, (await refused.json()).code]).toEqual([400, 'invalid_request'])
})

it("hides an upload link's address from other sites and search engines", async () => {
  const { answer } = await ask('GET', '/u/AbCdEfGhIjKlMnOpQrStUv')
  open()
  const { headers } = await answer
  expect([headers.get('referrer-policy'), headers.get('x-robots-tag')]).toEqual([
    'no-referrer',
    'noindex, nofollow',
  ])
})

it('lets a logo that is opened by itself do nothing', async () => {
  const { answer } = await ask('GET', '/u/logo/a')
  open()
  expect((await answer).headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
})

it('returns 400 for two Host headers, even if both are valid', async () => {
  open()
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  const host = `Host: 127.0.0.1:${port}\r\n`
  socket.write(`GET /pipes/a HTTP/1.1\r\n${host}${host}Connection: close\r\n\r\n`)
  const answer = (await socket.toArray()).join('')
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('invalid_header')
})

it('checks the host of an absolute target instead of the Host header', async () => {
  open()
  await opening.promise
  const { port } = server.address() as AddressInfo
  const own = `127.0.0.1:${port}`
  const status = async (target: string, host: string) => {
    const { socket, received } = connected(
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    )
    await once(socket, 'close')
    return received().slice(9, 12)
  }
  expect(await status('http://evil.example/dashboard', own)).toBe('421')
  expect(await status('http://evil.example/healthz', own)).toBe('200')
  expect(await status(`http://${own}/dashboard`, 'evil.example')).toBe('200')
  expect(await status('ftp://x/', own)).toBe('400')
})

it('responds to OPTIONS * with the supported methods', async () => {
  open()
  const { port } = server.address() as AddressInfo
  const { socket, received } = connected(
    `OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
  )
  await once(socket, 'close')
  expect(received()).toMatch(/^HTTP\/1.1 200 OK\r\n(.+\r\n)*Allow: GET, HEAD, POST/)
})

it.each([
  ['/healthz', 'x'],
  ['/metrics', 'x'],
  ['/dashboard', 'evil.example'],
  ['/pipes/pipe_x/files/', 'evil.example'],
  ['*', 'evil.example'],
])('closes the connection if the body has not arrived by its deadline: %s', async (path, host) => {
  open()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { socket, received } = connected(
    `OPTIONS ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\n.`,
  )
  await expect.poll(received).toMatch(/^HTTP/)
  const closed = once(socket, 'close')
  await vi.advanceTimersByTimeAsync(30_000)
  await closed
})

function connected(text: string) {
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let received = ''
  socket.on('data', (chunk) => (received += chunk)).on('error', () => {})
  socket.write(text)
  return { socket, received: () => received }
}

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('the access log', () => {
  const lines = (runtime: TestRuntime) => runtime.logLines.map((line) => JSON.parse(line))

  it('has one line for each request, with the ids and the error code that were noted for it', async () => {
    const runtime = open(
      { ACCESS_LOG: 'all', LOG_LEVEL: 'error' },
      {
        async uploads(req, res) {
          for await (const _ of req);
          noteRequest({
            workspaceId: 'w',
            pipeId: 'pipe_1',
            fileId: 'f',
            tokenId: 't',
            code: 'bucket_refused',
          })
          res.writeHead(502).end()
        },
      },
    )
    const { port } = server.address() as AddressInfo
    const address = `http://127.0.0.1:${port}/pipes/pipe_1/files/019f9a67-0000-7000-8000-000000000000?x=secret`
    const answer = await fetch(address, {
      method: 'PATCH',
      body: 'twelve bytes',
      headers: {
        'X-Request-Id': 'from-the-balancer',
        Traceparent: TRACEPARENT,
        'X-Forwarded-For': '9.9.9.9',
      },
    })
    expect(answer.headers.get('x-request-id')).toBe('from-the-balancer')
    await expect.poll(() => lines(runtime)).toHaveLength(1)
    expect(lines(runtime)[0]).toEqual({
      level: 30,
      time: expect.any(String),
      service: 'sluice',
      msg: 'request',
      requestId: 'from-the-balancer',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      client: '9.9.9.9',
      method: 'PATCH',
      route: '/pipes/:id/files/:id',
      status: 502,
      bytesIn: 12,
      ms: expect.any(Number),
      workspaceId: 'w',
      pipeId: 'pipe_1',
      fileId: 'f',
      tokenId: 't',
      code: 'bucket_refused',
      protocol: 'HTTP/1.1',
    })
  })

  it.each([
    ['off', 502, 0],
    ['errors', 204, 0],
    ['errors', 423, 1],
    ['all', 204, 1],
  ])(
    'with ACCESS_LOG=%s, a response with status %i writes this many lines: %i',
    async (ACCESS_LOG, status, count) => {
      const over = Promise.withResolvers<void>()
      const runtime = open(
        { ACCESS_LOG },
        {
          async uploads(_, res) {
            res.once('close', over.resolve).writeHead(status).end()
          },
        },
      )
      await (await ask('PATCH', '/pipes/x')).answer
      await over.promise
      expect(runtime.logLines).toHaveLength(count)
    },
  )
})

it('counts a response under its status, even if the connection ended before all of it was sent', async () => {
  const runtime = open(
    {},
    {
      async uploads(req, res) {
        res.writeHead(503, { 'Content-Length': '100' }).flushHeaders()
        res.once('close', () => req.destroy())
      },
    },
  )
  const { answer } = await ask('PATCH', '/pipes/x')
  const { status, body } = await answer
  expect(status).toBe(503)
  await body!.cancel()
  const counted = async () => (await runtime.metrics.http.get()).values.map(({ labels }) => labels.status)
  await expect.poll(counted).toContain('503')
  expect(await counted()).not.toContain('499')
})
