import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { SERVER_OPTIONS } from './open-server.ts'

it('allows at most a minute for headers', () => {
  const server = createServer(SERVER_OPTIONS)
  expect(server.headersTimeout).toBeGreaterThan(0)
  expect(server.headersTimeout + SERVER_OPTIONS.connectionsCheckingInterval).toBeLessThanOrEqual(60_000)
})

it('closes connections with slow headers or without any bytes, but not one with a slow body', async () => {
  const quick = { headersTimeout: 40, connectionsCheckingInterval: 10 }
  const server = createServer({ ...SERVER_OPTIONS, ...quick }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = (text: string) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    if (text !== '') socket.write(text)
    return socket
  }
  const slowBody = open('PATCH / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n1')
  const [request] = await once(server, 'request')
  for (const text of ['', 'HEAD / HTTP/1.1\r\nHost: a\r\nX-Slow: ']) {
    const slow = open(text)
    let said = ''
    slow.on('data', (answer) => (said += answer))
    const dripping = setInterval(() => text === '' || slow.write('x'), 5)
    await new Promise((resolve) => slow.once('close', resolve))
    clearInterval(dripping)
    // If bytes are still arriving, the connection is reset, which may overtake the response.
    if (text === '') expect(said).toMatch(/^HTTP\/1.1 408 /)
  }
  slowBody.write('234567890')
  await once(request.resume(), 'end')
  expect(request.complete).toBe(true)
  slowBody.destroy()
  server.close()
})
