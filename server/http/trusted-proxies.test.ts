import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { forwarded, proxyTrust } from './trusted-proxies.ts'

const request = (remoteAddress: string, headers: Record<string, string>) =>
  ({
    socket: { remoteAddress },
    headers: { host: 'direct.example', ...headers },
  }) as unknown as IncomingMessage
const trusts = proxyTrust(['10.0.0.0/8', 'fd00::1'])

it('ignores forwarded headers from an untrusted peer', () => {
  const req = request('8.8.8.8', { 'x-forwarded-host': 'evil.example', 'x-forwarded-for': '1.1.1.1' })
  expect(forwarded(req, trusts)).toEqual({ host: 'direct.example', proto: 'http', address: '8.8.8.8' })
})

it('reads the headers of a trusted proxy, but only the part of the chain that trusted proxies wrote', () => {
  const req = request('::ffff:10.1.2.3', {
    'x-forwarded-host': 'sluice.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '6.6.6.6, 9.9.9.9, 10.0.0.7',
  })
  expect(forwarded(req, trusts)).toEqual({ host: 'sluice.example', proto: 'https', address: '9.9.9.9' })
})
