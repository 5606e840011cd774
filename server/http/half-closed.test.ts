import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterEach, expect, it } from 'vitest'
import { createLogger } from '../../lib/platform/log/log.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { openServer } from './open-server.ts'

const log = createLogger('silent')
let server: Server | undefined
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
})

const TLS = { certFile: CERTIFICATE.cert, keyFile: CERTIFICATE.key }

async function open(listener: RequestListener, way: 'HTTP' | 'HTTPS' = 'HTTP'): Promise<Socket> {
  server = openServer(listener, { tls: way === 'HTTPS' ? TLS : undefined, log })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const options = { port, host: '127.0.0.1', allowHalfOpen: true }
  return way === 'HTTPS' ? connectTls({ ...options, rejectUnauthorized: false }) : connectPlain(options)
}

const nextRequest = () => once(server!, 'request') as Promise<[IncomingMessage, ServerResponse]>

it.each(['HTTP', 'HTTPS'] as const)('responds to a client that has closed its side, over %s', async (way) => {
  let answer = () => {}
  const client = await open((req, res) => {
    req.resume()
    answer = () => void res.end('arrived')
  }, way)
  client.end('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
  const [req] = await nextRequest()
  if (!req.socket.readableEnded) await once(req.socket, 'end')
  answer()
  // The server closes its own side with the response, because no further request can arrive.
  expect(await text(client)).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\n\r\narrived$/)
})

it('responds to each request of a client that sent several and closed its side', async () => {
  const client = await open((req, res) => void res.end(req.url))
  client.end('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n')
  expect((await text(client)).match(/\/\d$|\/\d(?=HTTP)/g)).toEqual(['/1', '/2'])
})

it.each([
  ['Content-Length: 3\r\n', 'hi'],
  ['Transfer-Encoding: chunked\r\n', '2\r\nhi\r\n'],
])('detects immediately that a client left in the middle of its body (%s)', async (framing, some) => {
  const client = await open((req) => void req.resume())
  client.write(`PUT / HTTP/1.1\r\nHost: a\r\n${framing}\r\n${some}`)
  const [req] = await nextRequest()
  client.end()
  await expect(once(req, 'end')).rejects.toThrow('aborted')
})

it.each(['before', 'after'])(
  'ends an event stream whose client closed its side %s it started',
  async (order) => {
    const client = await open(() => {})
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const [{ socket }, res] = await nextRequest()
    const gone = once(res, 'close')
    const begin = () => {
      res.setHeader('Content-Type', 'text/event-stream')
      res.flushHeaders()
    }
    if (order === 'after') begin()
    client.end()
    if (!socket.readableEnded) await once(socket, 'end')
    if (order === 'before') begin()
    await gone
  },
)

it('closes a keep-alive connection when the client closes its side', async () => {
  const client = await open((_, res) => void res.end())
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(client, 'data')
  client.end()
  await once(client, 'end')
})
