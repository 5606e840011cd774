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
