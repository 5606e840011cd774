import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { addressesHere, currentRequest } from '../../lib/platform/kernel/request-context.ts'
import { createLogger } from '../../lib/platform/log/log.ts'
import { type Fields, open } from '../../test/support/raw-http.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { frontDoor, type Handler, openDoor } from './front-door.ts'
import { proxyTrust } from './trusted-proxies.ts'

/** What a workspace's own host serves. The handlers respond with whose host the request was sent to. */
const OWN = 'files.customer.example'
const linkHost = { workspaceId: 'w', origin: `https://${OWN}`, certificateDueAt: null, challenge: null }
let server: Server
let asked: string[]

beforeEach(async () => {
  asked = []
  const runtime = testRuntime({} as never, {
    BASE_URL: 'https://sluice.example',
    UPLOAD_URL: 'https://up.sluice.example',
  })
  const handler = (name: string): Handler => {
    return async (_, res) => {
      const at = currentRequest()?.linkHost?.workspaceId
      res.end(`${name} ${at} ${addressesHere(runtime.config).uploadUrl}`)
    }
  }
  const handlers = { uploads: handler('uploads'), api: handler('api'), pages: handler('pages') }
  const findLinkHost = async (name: string) => {
    asked.push(name)
    if (name === 'away.example') throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    return name === OWN ? linkHost : undefined
  }
  const opening = Promise.resolve(openDoor(runtime, handlers, { findLinkHost }))
  const door = frontDoor(opening, { log: createLogger('silent'), trusts: proxyTrust(['127.0.0.1']) })
  server = createServer(door).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => void server.close())

async function ask(method: string, target: string, fields: Fields = {}) {
  const { port } = server.address() as AddressInfo
  await using connection = open(new URL(`http://127.0.0.1:${port}`))
  const lines = Object.entries({ Host: OWN, Connection: 'close', ...fields })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  connection.write(`${method} ${target} HTTP/1.1\r\n${head}\r\n`)
  return await connection.answer(method)
}

it.each([
  ['GET', '/u/AbCdEfGhIjKlMnOpQrStUv'],
  ['HEAD', '/u/AbCdEfGhIjKlMnOpQrStUv'],
  ['GET', '/u/AbCdEfGhIjKlMnOpQrStUv?_rsc=1'],
  ['GET', '/u/logo/0123456789abcdef'],
  ['GET', '/_next/static/chunks/a-b.c_d~1.js'],
  ['GET', '/_next/static/media/font.woff2?x'],
  ['GET', '/favicon.svg'],
  ['GET', '/apple-touch-icon.png'],
  ['GET', '/share.png'],
  ['POST', '/api/v1/upload-links/open'],
  ['POST', '/api/v1/upload-links/open/receipt'],
  ['POST', '/pipes/pipe_x/files/'],
  ['OPTIONS', '/pipes/pipe_x/files/'],
])('serves %s %s', async (method, target) => {
  const { status, body } = await ask(method, target)
  expect(status).toBe(200)
  const where = target.startsWith('/pipes/') ? 'uploads' : 'pages'
  if (method !== 'HEAD') expect(body).toBe(`${where} w https://${OWN}`)
})

it.each([
  ['GET', '/'],
  ['GET', '/dashboard'],
  ['GET', '/login'],
  ['GET', '/docs'],
  ['GET', '/llms.txt'],
  ['GET', '/kit'],
  ['GET', '/api/auth/csrf'],
  ['GET', '/api/v1/pipes'],
  ['POST', '/api/v1/tokens'],
  ['PROPFIND', '/api/v1/tokens'],
  ['POST', '/api/v1/upload-links'],
  ['GET', '/api/v1/upload-links/open'],
  ['POST', '/api/v1/upload-links/open/'],
  ['POST', '/api/v1/upload-links/open/../../tokens'],
  ['GET', '/_next/data/x.json'],
  ['GET', '/_next/image?url=%2Fshare.png'],
  ['GET', '/.well-known/openid-configuration'],
  // Any page would run any server action.
  ['POST', '/u/AbCdEfGhIjKlMnOpQrStUv'],
  ['PUT', '/u/AbCdEfGhIjKlMnOpQrStUv'],
  ['GET', '/u'],
  ['GET', '/u/'],
  ['GET', '/u/a/b'],
  ['GET', '/u/logo/a/b'],
  // Paths that Next would resolve.
  ['GET', '/u/../dashboard'],
  ['GET', '/u/%2e%2e/dashboard'],
  ['GET', '/u/..'],
  ['GET', '/u/%2E%2e'],
  ['GET', '/u/..\\dashboard'],
  ['GET', '/u\\a'],
  ['GET', '/_next/static/../../dashboard'],
  ['GET', '/_next/static/.%2e/%2e./dashboard'],
  ['GET', '//u/a'],
  ['GET', '//sluice.example/u/a'],
  ['OPTIONS', '*'],
])('has nothing at %s %s', async (method, target) => {
  const { status, body, headers } = await ask(method, target)
  expect([status, JSON.parse(body).code]).toEqual([404, 'not_found'])
  expect(headers['set-cookie']).toBeUndefined()
})

it.each([
  [OWN, 200],
  [`${OWN}:443`, 200],
  [OWN.toUpperCase(), 200],
  [`${OWN}:80`, 421],
  [`${OWN}:8443`, 421],
  [`${OWN}.`, 421],
  [`x@${OWN}`, 421],
  [`${OWN}/`, 421],
  [`x.${OWN}`, 421],
  ['customer.example', 421],
  ['127.0.0.1', 421],
])('responds to Host: %s with %i', async (Host, status) => {
  for (const target of ['/u/a', '/pipes/pipe_x/files/'])
    expect((await ask('GET', target, { Host })).status).toBe(status)
})

it('checks the host of an absolute target, and that from a trusted proxy', async () => {
  const Host = 'sluice.example'
  expect((await ask('GET', '/dashboard', { Host })).body).toBe('pages undefined https://up.sluice.example')
  expect((await ask('GET', `http://${OWN}/dashboard`, { Host })).status).toBe(404)
  expect((await ask('GET', `http://${OWN}/u/a`, { Host })).body).toBe(`pages w https://${OWN}`)
  expect((await ask('GET', '/dashboard', { Host, 'X-Forwarded-Host': OWN })).status).toBe(404)
  const evil = { 'X-Forwarded-Host': 'evil.example' }
  expect((await ask('GET', '/u/a', evil)).status).toBe(421)
})

it('does not look for the hosts of BASE_URL and UPLOAD_URL', async () => {
  for (const Host of ['sluice.example', 'up.sluice.example'])
    expect((await ask('GET', '/dashboard', { Host })).status).toBe(200)
  expect(asked).toEqual([])
})

it('lets pages connect to their own host alone, and requires HTTPS of it alone', async () => {
  const { headers } = await ask('GET', '/u/a')
  expect(headers['content-security-policy']).toContain(`connect-src 'self' https://${OWN};`)
  expect(headers['strict-transport-security']).toBe('max-age=31536000')
  const others = [await ask('GET', '/healthz'), await ask('GET', '/', { Host: 'customer.example' })]
  for (const { headers } of others) expect(headers['strict-transport-security']).toBe('max-age=31536000')
  expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex, nofollow' })
  const elsewhere = await ask('GET', '/u/a', { Host: 'sluice.example' })
  expect(elsewhere.headers['content-security-policy']).toContain("'self' https://up.sluice.example;")
  expect(elsewhere.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains')
})

// Common clients discard the upload if HEAD fails with anything but 423.
it.each([
  ['HEAD', '/pipes/pipe_x/files/y', {}, 423],
  ['HEAD', '/pipes/pipe_x/files/y', { 'Upload-Draft-Interop-Version': '8' }, 503],
  ['PATCH', '/pipes/pipe_x/files/y', {}, 503],
  ['GET', '/u/a', {}, 503],
])(
  'responds to %s %s with %j and %i while hosts cannot be looked up',
  async (method, target, fields, status) => {
    expect((await ask(method, target, { Host: 'away.example', ...fields })).status).toBe(status)
  },
)

it.each([
  [OWN, 200],
  ['FILES.customer.example', 200],
  ['evil.example', 404],
  ['away.example', 503],
])('tells a balancer that asks for a certificate for %s: %i', async (domain, status) => {
  expect((await ask('GET', `/readyz?domain=${domain}`, { Host: 'localhost:3000' })).status).toBe(status)
})

it('is not assumed without a Host', async () => {
  const { port } = server.address() as AddressInfo
  await using connection = open(new URL(`http://127.0.0.1:${port}`))
  connection.write('GET /u/a HTTP/1.0\r\n\r\n')
  expect((await connection.answer('GET')).status).toBe(421)
  expect(asked).toEqual([])
})
