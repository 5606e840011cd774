import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { upgradesForNext } from './open-server.ts'

it('in development, passes on the upgrades for hot reloading, and closes all others', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  const upgrades = upgradesForNext(server, true)
  upgrades.on('upgrade', (_, socket) => socket.end('taken'))
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const said = async (path: string) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += chunk
    return text
  }
  expect(await said('/_next/hmr?id=1')).toBe('taken')
  expect(await said('/')).toBe('')
  server.close()
})

it('in production, leaves no listener, so that an upgrade is treated as an ordinary request', () => {
  const server = createServer()
  upgradesForNext(server, false).on('upgrade', () => {})
  expect(server.listenerCount('upgrade')).toBe(0)
})
