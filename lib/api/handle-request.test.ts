import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testRuntime } from '../../test/support/runtime.ts'
import { createApiHandler } from './handle-request.ts'

/** The runtime has no database, because none of these requests needs one. */
const server = createServer(createApiHandler(testRuntime({} as never)))
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close())
const port = () => (server.address() as AddressInfo).port

it('responds with 413 to a body of unknown length that is too long', async () => {
  const sent = request({
    port: port(),
    method: 'POST',
    path: '/api/v1/tokens',
    headers: { Authorization: 'Bearer sk_x', 'Content-Type': 'application/json' },
  })
  const answered = once(sent, 'response')
  for (let n = 0; n < 64; n++) sent.write(' '.repeat(1024))
  sent.end(' ')
  const [response] = await answered
  expect(response.statusCode).toBe(413)
  const [body] = await once(response, 'data')
  expect(JSON.parse(body)).toMatchObject({ code: 'body_too_large' })
  expect(response.headers['content-length']).toBe(String(body.length))
})

it('responds to the next request on a connection after a body that was too long', async () => {
  const socket = connect(port(), '127.0.0.1')
  const head = 'Host: localhost\r\nAuthorization: Bearer sk_x\r\n'
  socket.write(`POST /api/v1/tokens HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n`)
  for (let n = 0; n < 64; n++) socket.write(`10000\r\n${' '.repeat(65_536)}\r\n`)
  socket.write(`0\r\n\r\nGET /api/v1/nothing HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)
  const answers = Buffer.concat(await socket.toArray()).toString()
  expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 404'])
})

it.each(['HEAD', 'TRACE', 'PROPFIND'])('responds to %s with 405', async (method) => {
  const sent = request({ port: port(), method, path: '/api/v1/tokens' }).end()
  const [response] = await once(sent, 'response')
  expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST, GET'])
})

it('allows only the methods of a literal path, even if another path has an id in its place', async () => {
  const path = '/api/v1/deliveries/resend-failed'
  for (const method of ['OPTIONS', 'GET']) {
    const [response] = await once(request({ port: port(), method, path }).end(), 'response')
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST'])
  }
})

it('survives a client that disconnects in the middle of its body', async () => {
  const socket = connect(port(), '127.0.0.1')
  const arrived = once(server, 'request')
  socket.write(
    'POST /api/v1/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk_x\r\nContent-Length: 9\r\n\r\n{',
  )
  const [, response] = await arrived
  socket.destroy()
  await once(response, 'close')
  expect((await fetch(`http://127.0.0.1:${port()}/api/v1/nothing`)).status).toBe(404)
})
