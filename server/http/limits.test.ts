import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ROUTES, routeFor } from '../../lib/platform/http/routes.ts'
import { createLogger } from '../../lib/platform/log/log.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { frontDoor, type Handler, type Handlers, openDoor } from './front-door.ts'
import { proxyTrust } from './trusted-proxies.ts'

let server: Server
let port: number
let handler: Handler
beforeEach(async () => {
  server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
  const runtime = testRuntime({} as never, { BASE_URL: `http://127.0.0.1:${port}` })
  const own: Handler = (req, res) => handler(req, res)
  const handlers: Handlers = { uploads: own, api: own, pages: own }
  const opening = Promise.resolve(openDoor(runtime, handlers))
  server.on('request', frontDoor(opening, { log: createLogger('silent'), trusts: proxyTrust(['127.0.0.1']) }))
})
afterEach(() => void server.close())

const read: Handler = async (req, res) => {
  let bytes = 0
  for await (const chunk of req) bytes += chunk.length
  res.end(String(bytes))
}
const at = (path: string) => `http://127.0.0.1:${port}${path}`
const head = (method: string, path: string) => `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`

it.each([...ROUTES, routeFor('/nowhere')])(
  'limits bodies sent to $path and below',
  async ({ path, bodyBytes }) => {
    handler = read
    const post = (url: string, bytes: number) => fetch(at(url), { method: 'POST', body: Buffer.alloc(bytes) })
    const url = path.replaceAll('*', 'x')
    for (const below of [url, `${url}/x`.replace('//', '/'), `${url}?x`]) {
      if (routeFor(below).path !== path) continue
      const allowed = await post(below, bodyBytes)
      const refused = await post(below, bodyBytes + 1)
      if (allowed.status === 405) {
        expect(refused.status).toBe(405)
        continue
      }
      expect(await allowed.text()).toBe(String(bodyBytes))
      expect([refused.status, (await refused.json()).code]).toEqual([413, 'body_too_large'])
    }
  },
)

it.each(['/api/auth/callback/credentials', '/dashboard'])(
  'refuses a body of more than 64 KiB at %s before anything reads it',
  async (path) => {
    const reading = vi.fn(read)
    handler = reading
    const { status } = await fetch(at(path), { method: 'POST', body: Buffer.alloc(64 * 1024 + 1) })
    expect([status, reading.mock.calls.length]).toEqual([413, 0])
  },
)

it('gives a path the limits of its own route, not those of one with a similar name', () => {
  const small = routeFor('/').bodyBytes
  expect(routeFor('/api/v1/imports/batch').bodyBytes).toBeGreaterThan(small)
  for (const url of [
    '/api/v1/imports',
    '/api/v1/imports/batches',
    '/x/api/v1/imports/batch',
    '/api/v1?x=/imports/batch',
  ])
    expect(routeFor(url).bodyBytes, url).toBe(small)
})

it.each(['/api/v1/senders/many', '/dashboard/senders'])('takes the names of 1,000 Senders at %s', (url) => {
  const body = JSON.stringify({ names: Array.from({ length: 1000 }, () => '漢'.repeat(100)) })
  expect(routeFor(url).bodyBytes).toBeGreaterThan(Buffer.byteLength(body))
})

it('refuses a body of unknown length once it is too long, whatever the handler does, and then continues', async () => {
  const failed = Promise.withResolvers<unknown>()
  handler = async (req, res) => {
    await read(req, res).catch((error) => {
      failed.resolve(error)
      res.writeHead(500).end()
    })
  }
  const socket = connect(port, '127.0.0.1')
  socket.write(`${head('POST', '/login')}Transfer-Encoding: chunked\r\n\r\n`)
  for (let n = 0; n < 64; n++) socket.write(`10000\r\n${' '.repeat(65_536)}\r\n`)
  socket.write(`0\r\n\r\n${head('POST', '/login')}Connection: close\r\nContent-Length: 1\r\n\r\nx`)
  const answers = Buffer.concat(await socket.toArray()).toString()
  expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200'])
  expect(await failed.promise).toMatchObject({ code: 'body_too_large' })
})

it.each(['with a length', 'in chunks'])(
  'reads the rest of a refused body %s slowly, and then continues',
  async (how) => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    handler = async (req, res) => void (await read(req, res).catch(() => {}))
    const bytes = 16 * 1024 * 1024
    const accepted = once(server, 'connection')
    const socket = connect(port, '127.0.0.1')
    const [serverSide] = (await accepted) as [Socket]
    const [before, after] =
      how === 'in chunks'
        ? [`Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n`, '\r\n0\r\n\r\n']
        : [`Content-Length: ${bytes}\r\n\r\n`, '']
    socket.write(head('POST', '/login') + before)
    socket.write(Buffer.alloc(bytes))
    socket.write(`${after}${head('POST', '/login')}Connection: close\r\nContent-Length: 1\r\n\r\nx`)
    const [first] = await once(socket, 'data')
    expect(String(first)).toMatch(/^HTTP\/1.1 413/)
    for (let n = 0; n < 50; n++) await once(request(at('/dashboard'), { agent: false }).end(), 'response')
    expect(serverSide.bytesRead).toBeLessThan(bytes / 4)
    const rest = socket.toArray()
    let isOver = false
    void rest.then(() => {
      isOver = true
    })
    while (!isOver) {
      vi.advanceTimersByTime(25)
      await new Promise(setImmediate)
    }
    expect(String(Buffer.concat(await rest))).toContain('HTTP/1.1 200')
    vi.useRealTimers()
  },
)

describe('pipelined requests', () => {
  it('are handled one at a time', async () => {
    let [running, most] = [0, 0]
    handler = async (req, res) => {
      most = Math.max(most, ++running)
      await new Promise(setImmediate)
      running -= 1
      res.end(req.url)
    }
    const socket = connect(port, '127.0.0.1')
    for (const n of [1, 2, 3]) socket.write(`${head('GET', `/dashboard/${n}`)}\r\n`)
    socket.write(`${head('GET', '/dashboard/4')}Connection: close\r\n\r\n`)
    const answers = Buffer.concat(await socket.toArray()).toString()
    expect(answers.match(/\/dashboard\/\d/g)).toEqual([1, 2, 3, 4].map((n) => `/dashboard/${n}`))
    expect(most).toBe(1)
  })

  it('end the connection a second later if there are too many of them, without a response', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    let handled = 0
    handler = async (_, res) => {
      handled += 1
      res.end()
    }
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    const closed = once(socket, 'close')
    socket.resume().write(`${head('GET', '/dashboard')}\r\n`.repeat(100))
    await expect.poll(() => vi.getTimerCount()).toBeGreaterThan(0)
    await once(request(at('/dashboard'), { agent: false }).end(), 'response')
    expect(socket.closed).toBe(false)
    vi.advanceTimersByTime(1000)
    await closed
    expect(handled).toBe(1)
    vi.useRealTimers()
  })
})

it.each(['/dashboard', '/api/v1/pipes', '/api/v1/tokens'])(
  'handles a few requests to %s at once, and fewer for each client, so that none locks out another',
  async (path) => {
    const waiting: ServerResponse[] = []
    handler = async (_, res) => {
      waiting.push(res)
      await once(res, 'close')
    }
    const ask = (client: string) =>
      once(request(at(path), { agent: false, headers: { 'X-Forwarded-For': client } }).end(), 'response')
    const { most } = routeFor(path).atOnce!
    const forEach = most / 2
    const ofStranger = Array.from({ length: 2 * most }, () => ask('192.0.2.1'))
    await expect.poll(() => waiting.length).toBe(forEach)
    const ofNeighbour = ask('192.0.2.2')
    await expect.poll(() => waiting.length).toBe(forEach + 1)
    waiting.pop()!.end()
    await ofNeighbour
    expect(waiting).toHaveLength(forEach)
    const others = Array.from({ length: 2 * most }, (_, at) => ask(`198.51.100.${at}`))
    await expect.poll(() => waiting.length).toBe(most)
    handler = async (_, res) => void res.end()
    for (const res of waiting) res.end()
    await Promise.all([...ofStranger, ...others])
  },
)

it.each([
  ['does not accept its credential', 1, 401],
  ['gets a body that is too large', routeFor('/api/v1/tokens').bodyBytes + 1, 413],
])('handles the next requests of a client later if the server %s', async (_, bytes, status) => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  handler = async (_req, res) => void res.writeHead(401).end()
  const forEach = routeFor('/api/v1/tokens').atOnce!.most / 2
  let refused = 0
  // `expect.poll` would move the clock on.
  const { promise: firstRefused, resolve } = Promise.withResolvers<void>()
  const ask = async () => {
    const sent = request(at('/api/v1/tokens'), { method: 'POST', agent: false }).on('error', () => {})
    const [response] = await once(sent.end(Buffer.alloc(bytes)), 'response')
    expect(response.statusCode).toBe(status)
    refused += 1
    if (refused === forEach) resolve()
  }
  const all = Array.from({ length: 2 * forEach }, ask)
  await firstRefused
  await once(request(at('/dashboard'), { agent: false }).end(), 'response')
  expect(refused).toBe(forEach)
  vi.advanceTimersByTime(100)
  await Promise.all(all)
  vi.useRealTimers()
})

it.each([404, 409, 422])('does not hold up a client whose requests get %i', async (status) => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  handler = async (_req, res) => void res.writeHead(status).end()
  const ask = async () => {
    const [response] = await once(request(at('/api/v1/pipes'), { agent: false }).end(), 'response')
    return response.statusCode
  }
  const all = await Promise.all(Array.from({ length: 2 * routeFor('/api/v1/pipes').atOnce!.most }, ask))
  expect(new Set(all)).toEqual(new Set([status]))
  vi.useRealTimers()
})

describe('a response that is the same for everyone', () => {
  let rendered: IncomingMessage['headers'][]
  beforeEach(() => {
    rendered = []
    handler = async (req, res) => {
      rendered.push(req.headers)
      res.setHeader('Content-Type', 'text/html')
      if (req.url === '/docs/nothing') res.statusCode = 404
      res.write('<p>')
      res.end(`${req.url} ${req.headers.cookie}`)
    }
  })
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(at(path), { headers })
    return { text: await response.text(), headers: response.headers }
  }

  it('is rendered once, from nothing that a visitor sends', async () => {
    const first = await get('/docs/api?a=1', {
      Cookie: 'other=1',
      'User-Agent': 'x',
      Authorization: 'Bearer x',
    })
    const again = await get('/docs/api?a=2', { Cookie: 'other=2', 'If-None-Match': '*' })
    expect(rendered).toHaveLength(1)
    expect(Object.values(rendered[0]!).join()).not.toMatch(/other|Bearer/)
    expect(first.text).toBe('<p>/docs/api ')
    expect(again.text).toBe(first.text)
    for (const name of ['content-type', 'content-security-policy'])
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
    expect((await fetch(at('/docs/api'), { method: 'HEAD' })).headers.get('content-length')).toBe('13')
  })

  it.each(['/api/v1/openapi.json', '/llms.txt'])('is rendered once at %s', async (path) => {
    const [first, again] = [await get(path, { Authorization: 'Bearer x' }), await get(path)]
    expect(rendered).toHaveLength(1)
    expect([first.text, again.text]).toEqual(Array(2).fill(`<p>${path} `))
  })

  it('is rendered again for each theme, and for those who are signed in', async () => {
    const cookies = ['theme=dark', 'theme=light', 'theme=<', 'next-auth.session-token=secret', '']
    const texts = await Promise.all(cookies.map(async (Cookie) => (await get('/docs', { Cookie })).text))
    expect(new Set(texts).size).toBe(4)
    expect(texts.join()).not.toContain('secret')
  })

  it('is only kept if it is a success', async () => {
    for (let n = 0; n < 2; n++) await get('/docs/nothing')
    expect(rendered).toHaveLength(2)
  })

  it('is also rendered once as the data that scripts request, from whichever page they come', async () => {
    const page = await get('/docs')
    const kinds: Record<string, string>[] = [
      {},
      { 'Next-Router-State-Tree': '[]' },
      { 'Next-Router-Prefetch': '1' },
    ]
    const texts = await Promise.all(
      kinds.map(async (kind, n) => (await get(`/docs?_rsc=${n}`, { RSC: '1', ...kind })).text),
    )
    expect(rendered).toHaveLength(2)
    expect(rendered[1]).toMatchObject({ rsc: '1' })
    expect(Object.keys(rendered[1]!).join()).not.toContain('next-router')
    expect(new Set(texts)).toEqual(new Set(['<p>/docs?_rsc= ']))
    expect((await get('/docs')).text).toBe(page.text)
  })

  it('is not rendered for any other method', async () => {
    const refused = await fetch(at('/docs/api'), { method: 'POST' })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(rendered).toHaveLength(0)
  })
})
