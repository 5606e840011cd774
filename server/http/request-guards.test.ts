import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  allowedHosts,
  refuseCrossSite,
  refuseUnreadableForm,
  setBodyDeadline,
  toOriginForm,
} from './request-guards.ts'

it('recognizes a host with and without its default port', () => {
  const hosts = allowedHosts(['https://sluice.example', 'http://up.example:8080'])
  for (const host of ['sluice.example', 'sluice.example:443', 'up.example:8080'])
    expect(hosts.has(host)).toBe(true)
  for (const host of ['evil.example', 'up.example', 'sluice.example:80', ''])
    expect(hosts.has(host)).toBe(false)
})

it('treats loopback addresses as localhost', () => {
  expect(allowedHosts(['http://localhost:3000']).has('127.0.0.1:3000')).toBe(true)
})

const read = (url: string, method = 'GET') => {
  const req = { url, method, headers: { host: 'header.example' } } as IncomingMessage
  toOriginForm(req)
  return [req.headers.host, req.url]
}

it.each([
  ['http://target.example/a?b', 'target.example', '/a?b'],
  ['HTTPS://Target.example:8080/a/../b', 'target.example:8080', '/a/../b'],
  ['http://target.example', 'target.example', '/'],
  ['http://target.example?a', 'target.example', '/?a'],
  ['http://header.example@target.example/', 'header.example@target.example', '/'],
  ['/a', 'header.example', '/a'],
  ['//target.example/a', 'header.example', '//target.example/a'],
])('reads the host and the path of the target %s', (url, host, path) =>
  expect(read(url)).toEqual([host, path]),
)

it('allows the asterisk only for OPTIONS', () => {
  expect(read('*', 'OPTIONS')).toEqual(['header.example', '*'])
  for (const target of ['*', 'a.example:443', 'ftp://a/', ''])
    expect(() => read(target)).toThrow(/must be a path/)
})

const form = { 'content-type': 'Multipart/Form-Data; boundary=x' }
const action = { 'content-type': 'text/plain', 'next-action': 'x' }
const check = (headers: Record<string, string>, method = 'POST') =>
  refuseCrossSite(
    { method, headers: { host: 'own.example:8080', ...headers } } as unknown as IncomingMessage,
    'https://own.example:8080',
  )

describe.each([
  ['a form', form],
  ['an action', action],
])('%s', (_, headers) => {
  it.each([
    'https://evil.example',
    'https://own.example',
    'http://own.example:8080',
    'http://own.example.evil:8080',
    'null',
    '',
    '://',
  ])('is rejected from the origin "%s"', (origin) => {
    expect(() => check({ ...headers, origin })).toThrow(
      expect.objectContaining({ status: 403, code: 'cross_site_request' }),
    )
  })

  it('is accepted from its own origin, and from clients that are not browsers', () => {
    check({ ...headers, origin: 'https://own.example:8080' })
    check({ ...headers, host: 'own.example:443', origin: 'https://own.example' })
    check(headers)
  })
})

it('accepts cross-site requests that cannot call an action', () => {
  const origin = 'https://evil.example'
  check({ origin, 'content-type': 'application/json' })
  // A sign-in provider may send its response as a cross-site form.
  check({ origin, 'content-type': 'application/x-www-form-urlencoded' })
  check({ origin, ...form }, 'PUT')
})

it.each([
  ['a form', 'POST', { 'content-type': 'multipart/form-data; boundary=x' }, 400],
  ['an action', 'POST', { 'content-type': 'text/plain', 'next-action': 'x' }, 400],
  ['another POST request', 'POST', { 'content-type': 'application/json' }, 500],
  ['a page', 'GET', {}, 500],
])("turns Next's 500 into a 400 only for forms and actions: %s", async (_, method, headers, status) => {
  const server = createServer((req, res) => {
    refuseUnreadableForm(req, res)
    res.statusCode = 500
    res.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect((await fetch(`http://127.0.0.1:${port}/`, { method, headers })).status).toBe(status)
  server.close()
})

it('closes the connection of a slow body, but not of a body that arrives in time', async () => {
  const server = createServer((req, res) => {
    setBodyDeadline(req, req.url === '/drip' ? 20 : 60_000)
    req.resume().once('end', () => res.end('thanks'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const drip = connect(port, '127.0.0.1')
  drip.on('error', () => {})
  drip.write('POST /drip HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n.')
  await once(drip, 'close')
  const whole = await fetch(`http://127.0.0.1:${port}/whole`, { method: 'POST', body: 'all of it' })
  expect(await whole.text()).toBe('thanks')
  server.close()
})
