import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RequestSource } from '../../uploads/stream/request-source.ts'
import { respond } from '../create-upload-handler.ts'

const MiB = 1024 * 1024
/** More than a connection's buffers can hold. */
const BODY = Buffer.alloc(32 * MiB)
const LENGTH = { 'Content-Length': String(BODY.length) }

/** Refuses every request as the endpoint does: a source has been created for the body, but not started. */
const refuse = (req: IncomingMessage, res: ServerResponse) => {
  new RequestSource(req)
  const status = req.url === '/conflict' ? 409 : 401
  respond(req, res, { status, headers: {}, body: 'refused' })
}
const server = createServer(refuse).on('checkContinue', refuse)
const port = () => (server.address() as AddressInfo).port
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** Behaves like a client that reads nothing before it has sent everything. */
async function sendThenRead(headers: Record<string, string>, body: Buffer): Promise<string> {
  const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true })
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST / HTTP/1.1\r\n${lines.join('')}\r\n`)
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.write(body, (error) => (error ? reject(error) : resolve()))
  })
  return text(socket)
}

it.each([
  ['with a length', LENGTH, BODY],
  ['in chunks', { 'Transfer-Encoding': 'chunked' }, chunked(BODY)],
  ['without waiting for 100 Continue', { ...LENGTH, Expect: '100-continue' }, BODY],
])('a refusal reaches a client that sends its entire body first, %s', async (_, headers, body) => {
  expect(await sendThenRead(headers, body)).toMatch(/^HTTP\/1.1 401 [\s\S]*refused$/)
})

it.each([
  ['over keep-alive connections', {}],
  ['waiting for 100 Continue', { Expect: '100-continue' }],
])("a refusal reaches Node's client, %s", async (_, headers) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let times = 0; times < 3; times += 1) {
    const sent = request({ port: port(), method: 'POST', agent, headers: { ...LENGTH, ...headers } })
    if (!('Expect' in headers)) sent.end(BODY)
    else sent.once('continue', () => sent.end(BODY)).flushHeaders()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(401)
    expect((await buffer(response)).toString()).toBe('refused')
  }
  agent.destroy()
})

it.each([
  ['a refused body that is too long', '/', 128],
  ['a body that was sent before', '/conflict', 16],
])('stops reading %s', async (_, path, maxMiB) => {
  const socket = connect(port(), '127.0.0.1')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {}).resume()
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n`)
  let sentBytes = 0
  const more = () => {
    while (!socket.destroyed && socket.write(BODY.subarray(0, MiB))) sentBytes += MiB
  }
  socket.on('drain', more)
  more()
  await closed
  expect(sentBytes).toBeLessThan(maxMiB * MiB)
})

function chunked(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')])
}
