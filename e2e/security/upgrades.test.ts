import { describe, expect, inject, it } from 'vitest'
import { ask, type Connection, open, requestHead } from '../../test/support/raw-http.ts'
import { BALANCERS, findBalancer, startShippedBalancer } from '../../test/support/shipped-balancer.ts'
import { targetOf } from '../../test/support/target.ts'

/** An unsupported upgrade is handled like any other request: it gets a normal response, and its socket is closed. */
const { baseUrl } = targetOf(inject('demo'))
const { host, port } = new URL(baseUrl)

const PATHS: [path: string, status: number][] = [
  ['/', 200],
  ['/nowhere', 404],
  ['/_next/hmr', 404],
  ['/healthz', 200],
  ['/api/v1/pipes', 401],
  ['/pipes/pipe_x/files/y', 404],
]
const upgrade = (Upgrade: string) => ({
  Connection: 'Upgrade',
  Upgrade,
  'Sec-WebSocket-Version': 13,
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
})

async function through(port: string | number, path: string, protocol: string) {
  const url = new URL(path, `http://127.0.0.1:${port}`)
  await using connection = open(url)
  connection.write(requestHead('GET', url, { Host: host, ...upgrade(protocol) }))
  return await connection.answer('GET')
}

describe.each(['websocket', 'h2c', 'TLS/1.0, unknown'])('an upgrade to %s', (protocol) => {
  it.each(PATHS)('at %s gets the status %i', async (path, status) => {
    expect((await through(port, path, protocol)).status).toBe(status)
  })
})

it('the Host check also applies to an upgrade', async () => {
  const answer = await ask('GET', new URL('/', baseUrl), { ...upgrade('websocket'), Host: 'evil.example' })
  expect(answer.status).toBe(421)
})

it('a hundred upgrades leave no socket open after their responses', async () => {
  const url = new URL('/healthz', baseUrl)
  const connections: Connection[] = Array.from({ length: 100 }, () => open(url))
  for (const connection of connections) {
    connection.write(requestHead('GET', url, upgrade('websocket')))
    expect((await connection.answer('GET')).status).toBe(200)
    // The following bytes are another request, not part of another protocol.
    connection.write(requestHead('GET', url, { Connection: 'close' }))
    expect((await connection.answer('GET')).status).toBe(200)
    await connection.end()
  }
})

describe.each(BALANCERS)('through %s, as configured in deploy/', (name) => {
  it('an upgrade gets a normal response', async ({ skip }) => {
    skip(!findBalancer(name), `${name} is not installed`)
    const node = Number(port)
    const balancer = await startShippedBalancer(name, { upload: [node, node], web: [node, node] })
    for (const [path, status] of PATHS) {
      expect((await through(balancer.port, path, 'websocket')).status, path).toBe(status)
    }
    await balancer.close()
  })
})
