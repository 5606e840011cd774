import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { get } from './get.ts'
import { createGuardedAgents } from './guarded-agents.ts'
import { readFault } from './network-error.ts'
import { type PostLimits, post } from './post.ts'

/**
 * A slow machine must not look like a slow receiver, so only tests about slow receivers set a short timeout.
 */
const LIMITS: PostLimits = {
  connectMs: 60_000,
  totalMs: 60_000,
  bodyMs: 60_000,
  bodyBytes: 16_384,
  headerBytes: 16_384,
}

const open = new Set<Server>()
const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  for (const server of open) server.close()
  open.clear()
  sockets.clear()
})

async function listen(server: Server): Promise<string> {
  open.add(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A receiver that does not use HTTP, but gets the raw socket once the request has started to arrive. */
const raw = (answer: (socket: Socket) => void) =>
  listen(createServer((socket) => void socket.once('data', () => answer(socket))))

const send = (url: string, limits: Partial<PostLimits> = {}) => {
  const body = Buffer.from('{"a":1}')
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) }
  return post(createGuardedAgents(['*']), { url, headers, body }, { ...LIMITS, ...limits })
}

/** Writes until the other side hangs up. */
function flood(socket: Socket, start: string, chunk: string) {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.write(start)
  socket.on('drain', more)
  more()
  return new Promise((resolve) => socket.once('close', resolve))
}

function drip(socket: Socket, start: string, text: string) {
  socket.write(start)
  const timer = setInterval(() => socket.write(text), 20)
  socket.once('close', () => clearInterval(timer))
}

const OK = 'HTTP/1.1 200 OK\r\n'

describe('post', () => {
  it('sends the body unchanged, and returns the status, headers and body of the response', async () => {
    let got = ''
    const server = createHttpServer((req, res) => {
      req.on('data', (chunk) => (got += chunk))
      req.on('end', () => res.writeHead(201, { 'X-A': 'b' }).end('thanks \u0000'))
    })
    const answer = await send(`http://${await listen(server)}/hook?x=1`)
    expect(got).toBe('{"a":1}')
    expect(answer).toMatchObject({ status: 201, headers: { 'x-a': 'b' }, body: 'thanks \ufffd' })
    expect(answer.cut).toBeUndefined()
  })

  it('does not follow a redirect', async () => {
    let hits = 0
    const server = createHttpServer((_, res) => {
      hits += 1
      res.writeHead(307, { Location: '/again' }).end()
    })
    expect(await send(`http://${await listen(server)}/`)).toMatchObject({ status: 307 })
    expect(hits).toBe(1)
  })

  it('keeps 16 KiB of an endless body, and closes the connection', async () => {
    let closed: Promise<unknown> | undefined
    const host = await raw((socket) => {
      closed = flood(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n', 'x'.repeat(65_536))
    })
    const answer = await send(`http://${host}/`)
    expect(answer).toMatchObject({ status: 200, cut: expect.stringContaining('longer than 16 KiB') })
    expect(answer.body).toHaveLength(16_384)
    await closed
  })

  it('cuts off a body that arrives too slowly', async () => {
    const host = await raw((socket) => {
      drip(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n')
    })
    expect(await send(`http://${host}/`, { bodyMs: 100 })).toMatchObject({
      status: 200,
      cut: expect.stringContaining('not complete'),
    })
  })

  it('reports a body that was cut off', async () => {
    const host = await raw((socket) => socket.end('HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nhalf'))
    const cut = expect.stringContaining('in the middle of the response body')
    expect(await send(`http://${host}/`)).toMatchObject({ status: 500, body: 'half', cut })
  })

  it.each<[string, (socket: Socket) => void, string, RegExp, Partial<PostLimits>?]>([
    ['silence', () => {}, 'timeout', /did not respond within 0.3 s/, { totalMs: 300 }],
    [
      'slow headers',
      (s) => drip(s, 'HTTP/1.1 200 OK\r\nX-A: ', 'b'),
      'timeout',
      /did not respond within/,
      { totalMs: 300 },
    ],
    ['endless headers', (s) => flood(s, OK, `X-A: ${'b'.repeat(500)}\r\n`), 'status', /larger than 16 KiB/],
    ['one endless header', (s) => flood(s, `${OK}X-A: `, 'b'.repeat(5000)), 'status', /larger than 16 KiB/],
    [
      'endless informational responses',
      (s) => flood(s, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
      'status',
      /informational/,
    ],
    ['another protocol', (s) => void s.end('SSH-2.0-OpenSSH_9.9\r\n'), 'status', /not HTTP/],
    ['a hang-up', (s) => void s.destroy(), 'connect', /closed without a response/],
    ['a reset', (s) => void s.resetAndDestroy(), 'connect', /closed without a response/],
    ['an empty response', (s) => void s.end(), 'connect', /closed without a response/],
  ])('reports %s', async (_, answer, fault, words, limits) => {
    const error = await send(`http://${await raw(answer)}/`, limits).catch((caught) => caught)
    expect(error).toMatchObject({
      name: 'NetworkError',
      fault: expect.stringMatching(new RegExp(`^(${fault})$`)),
    })
    expect(error.message).toMatch(words)
  })

  it('also limits the informational responses to a GET', async () => {
    const host = await raw((socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)))
    const limits = { respondMs: 60_000, headerBytes: 16_384 }
    const asked = { url: `http://${host}/`, headers: {}, own: {} }
    await expect(get(createGuardedAgents(['*']), asked, limits, AbortSignal.timeout(10_000))).rejects.toThrow(
      /informational/,
    )
  })

  it('reports a port that nothing is listening on', async () => {
    const server = createServer()
    const host = await listen(server)
    server.close()
    await expect(send(`http://${host}/`)).rejects.toMatchObject({ fault: 'connect', message: /refused/ })
  })

  it('reports a server without TLS', async () => {
    const host = await raw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await expect(send(`https://${host}/`)).rejects.toMatchObject({ fault: 'tls' })
  })

  it('gives up on a TLS handshake that does not complete', async () => {
    const host = await raw(() => {})
    const message = expect.stringContaining('Could not connect to the server within 0.15 s')
    const tried = send(`https://${host}/`, { connectMs: 150 })
    await expect(tried).rejects.toMatchObject({ fault: 'timeout', message })
  })

  it('reports a blocked address', async () => {
    await expect(send('http://169.254.169.254/latest/meta-data')).rejects.toMatchObject({ fault: 'blocked' })
  })
})

describe('readFault', () => {
  it.each([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ESERVFAIL', 'dns'],
    ['ETIMEOUT', 'dns'],
    ['ETIMEDOUT', 'timeout'],
    ['EHOSTUNREACH', 'connect'],
    ['ECONNREFUSED', 'connect'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['HPE_INVALID_CONSTANT', 'status'],
    ['something new', 'connect'],
  ])('classifies %s as %s', (code, fault) => {
    expect(readFault(Object.assign(new Error('x'), { code }), LIMITS).fault).toBe(fault)
  })
})
