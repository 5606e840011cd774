import { once } from 'node:events'
import http, { createServer, type Server } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGuardedAgents, type GuardedAgents, type ResolveHost } from './guarded-agents.ts'
import { assertAllowedUrl } from './judge-connection.ts'

let server: Server
let port: number
let hits = 0

beforeAll(async () => {
  server = createServer((_, res) => {
    hits += 1
    res.end('hello')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const answers = (...addresses: string[]): ResolveHost => {
  return async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

async function get(agents: GuardedAgents, url: string): Promise<string> {
  const { protocol } = new URL(url)
  const request =
    protocol === 'https:' ? https.get(url, { agent: agents.https }) : http.get(url, { agent: agents.http })
  const [response] = await once(request, 'response')
  return String((await response.toArray()).join(''))
}

const refused = { name: 'SluiceError', code: 'address_not_allowed' }

/** Each of these means 127.0.0.1, or this machine, to some programs. */
const SPELLINGS = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  'localhost',
  'LOCALHOST.',
  'sub.localhost',
  '0.0.0.0',
  '0',
  '[::]',
  '１２７.0.0.1',
]

describe('with nothing allowed', () => {
  const agents = createGuardedAgents([])

  it.each(SPELLINGS)('refuses http://%s', async (host) => {
    await expect(get(agents, `http://${host}:${port}/`)).rejects.toMatchObject(refused)
    expect(() => assertAllowedUrl(`http://${host}:${port}/`, [])).toThrow(expect.objectContaining(refused))
  })

  it.each(SPELLINGS)('refuses https://%s', async (host) => {
    await expect(get(agents, `https://${host}:${port}/`)).rejects.toMatchObject(refused)
    expect(() => assertAllowedUrl(`https://${host}:${port}/`, [])).toThrow(expect.objectContaining(refused))
  })

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::ffff:127.0.0.1', 'fd00::1', '100.64.0.1'])(
    'refuses a name that resolves to %s',
    async (address) => {
      const named = createGuardedAgents([], { resolve: answers(address) })
      const tried = get(named, `https://hooks.example.com:${port}/`)
      const error: Error = await tried.then(
        () => new Error('it was let through'),
        (thrown) => thrown,
      )
      expect(error).toMatchObject(refused)
      expect(error.message).not.toContain(address)
      expect(error.cause).toContain(address)
    },
  )

  it('refuses a name if even one of its addresses is private', async () => {
    const mixed = createGuardedAgents([], { resolve: answers('93.184.216.34', '127.0.0.1') })
    await expect(get(mixed, `https://hooks.example.com:${port}/`)).rejects.toMatchObject(refused)
  })

  it('checks each connection again, and refuses a name whose address has become private', async () => {
    const answered: string[] = []
    const rebinding = createGuardedAgents([], {
      resolve: async () => {
        answered.push(answered.length === 0 ? '192.0.2.1' : '127.0.0.1')
        return [{ address: answered.at(-1)!, family: 4 }]
      },
    })
    assertAllowedUrl(`https://hooks.example.com:${port}/`, [])
    for (let n = 0; n < 2; n++) {
      await expect(get(rebinding, `https://hooks.example.com:${port}/`)).rejects.toMatchObject(refused)
    }
    expect(answered).toEqual(['192.0.2.1', '127.0.0.1'])
  })

  it('refuses plain http to a public address', async () => {
    const named = createGuardedAgents([], { resolve: answers('93.184.216.34') })
    await expect(get(named, 'http://hooks.example.com/')).rejects.toThrow(/https, not plain http/)
    expect(() => assertAllowedUrl('http://hooks.example.com/', [])).toThrow(/https, not plain http/)
    expect(() => assertAllowedUrl('https://hooks.example.com/', [])).not.toThrow()
  })

  it('refuses a socket on this machine', async () => {
    const request = http.get({ socketPath: '/tmp/x.sock', path: '/', agent: agents.http })
    await expect(once(request, 'response')).rejects.toMatchObject(refused)
  })

  it.each([
    'ftp://hooks.example.com/',
    'file:///etc/passwd',
    'hooks.example.com',
    'https://me:pass@hooks.example.com/',
  ])('does not accept %s as an address', (url) => {
    expect(() => assertAllowedUrl(url, [])).toThrow(expect.objectContaining(refused))
  })

  it.each([
    ['localhost:4567/hooks', [], 'The address must start with https://.'],
    ['hooks.example.com/sluice', [], 'The address must start with https://.'],
    ['localhost:4567/hooks', ['localhost:4567'], 'The address must start with https:// or http://.'],
    ['https://', [], 'This is not a valid address. An address looks like https://host/path.'],
  ])('says what is wrong with the address %s, with %j allowed', (url, allowed, message) => {
    expect(() => assertAllowedUrl(url, allowed)).toThrow(expect.objectContaining({ message }))
  })

  it('has never reached the server', () => {
    expect(hits).toBe(0)
  })
})

describe('with an allowed host', () => {
  it('allows that host and port, for http and private addresses', async () => {
    const agents = createGuardedAgents([`127.0.0.1:${port}`, `inside.example:${port}`], {
      resolve: answers('127.0.0.1'),
    })
    expect(await get(agents, `http://127.0.0.1:${port}/`)).toBe('hello')
    expect(await get(agents, `http://Inside.Example:${port}/`)).toBe('hello')
    expect(() => assertAllowedUrl(`http://inside.example:${port}/`, [`inside.example:${port}`])).not.toThrow()
    await expect(get(agents, `http://127.0.0.1:${port + 1}/`)).rejects.toMatchObject(refused)
    await expect(get(agents, `http://other.example:${port}/`)).rejects.toMatchObject(refused)
  })

  it('allows an IPv6 address listed in brackets', () => {
    expect(() => assertAllowedUrl('http://[::1]:9000/', ['[::1]:9000'])).not.toThrow()
  })

  it.each(['169.254.169.254', '0.0.0.0', '::ffff:127.0.0.1', 'fd00:ec2::254'])(
    'does not connect to a name that resolves to %s',
    async (address) => {
      const agents = createGuardedAgents(['inside.example:80'], { resolve: answers(address) })
      await expect(get(agents, 'http://inside.example/')).rejects.toMatchObject(refused)
    },
  )
})

describe('with *', () => {
  it('allows loopback by address and by name', async () => {
    const agents = createGuardedAgents(['*'], { resolve: answers('127.0.0.1') })
    expect(await get(agents, `http://127.0.0.1:${port}/`)).toBe('hello')
    expect(await get(agents, `http://localhost:${port}/`)).toBe('hello')
  })

  it.each(['169.254.169.254', '169.254.1.1', '100.64.0.1', '0.0.0.0', '[::ffff:127.0.0.1]', '224.0.0.1'])(
    'does not connect to %s',
    async (host) => {
      await expect(get(createGuardedAgents(['*']), `http://${host}/`)).rejects.toMatchObject(refused)
    },
  )

  it('does not allow plain http to the public internet', async () => {
    const agents = createGuardedAgents(['*'], { resolve: answers('93.184.216.34') })
    await expect(get(agents, 'http://hooks.example.com/')).rejects.toMatchObject(refused)
  })
})

it('keeps connections open and reuses them', async () => {
  const agents = createGuardedAgents(['*'])
  const ports = new Set<number | undefined>()
  for (let n = 0; n < 3; n++) {
    const request = http.get(`http://127.0.0.1:${port}/`, { agent: agents.http })
    const [response] = await once(request, 'response')
    ports.add(response.socket.localPort)
    response.resume()
    await once(response, 'end')
    await new Promise(setImmediate)
  }
  expect(ports.size).toBe(1)
})

it('closes an idle connection after a timeout, but never one in use', async () => {
  const slow = createServer((req, res) => {
    req.resume()
    setTimeout(() => res.end('late'), 100)
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const agents = createGuardedAgents(['*'], { agent: { timeout: 20 } })
  const request = http.get(`http://127.0.0.1:${(slow.address() as AddressInfo).port}/`, {
    agent: agents.http,
  })
  const [socket] = (await once(request, 'socket')) as [Socket]
  const closed = once(socket, 'close')
  const [response] = await once(request, 'response')
  expect((await response.toArray()).join('')).toBe('late')
  await closed
  slow.close()
})
