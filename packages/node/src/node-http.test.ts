import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, it, vi } from 'vitest'
import { toNodeHandler } from './node-http.ts'

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function serve(handle: (request: Request) => Promise<Response>): Promise<number> {
  server = createServer(toNodeHandler(handle)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function sendRaw(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`${head}\r\nConnection: close\r\n\r\n`)
  return text(socket)
}

it.each([
  ['an invalid host', 'POST / HTTP/1.1\r\nHost: a b'],
  ['an invalid port', 'POST / HTTP/1.1\r\nHost: localhost:99999'],
  ['a method that fetch does not support', 'TRACE / HTTP/1.1\r\nHost: localhost'],
])('refuses %s and keeps serving requests', async (_, head) => {
  const port = await serve(async () => new Response('here'))
  expect(await sendRaw(port, head)).toMatch(/^HTTP\/1.1 400 /)
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here')
})

it('does not take the host from the request target', async () => {
  const port = await serve(async ({ url }) => new Response(url))
  expect(await sendRaw(port, 'POST //evil.example HTTP/1.1\r\nHost: shop.example')).toContain(
    'http://shop.example//evil.example',
  )
})

it('returns 500 if the handler throws, and keeps serving requests', async () => {
  const told = vi.spyOn(console, 'error').mockReturnValue()
  const away = new Error('The session store is unavailable.')
  const thrown = [away]
  const port = await serve(async () => {
    const error = thrown.pop()
    if (error) throw error
    return new Response('here')
  })
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(500)
  expect(told).toHaveBeenCalledWith(away)
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('here')
})

it('passes on every cookie in both directions', async () => {
  const headers: [string, string][] = [
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
  ]
  const port = await serve(async () => new Response(null, { headers }))
  const { headers: got } = await fetch(`http://127.0.0.1:${port}/`)
  expect(got.getSetCookie()).toEqual(['a=1', 'b=2'])
})
