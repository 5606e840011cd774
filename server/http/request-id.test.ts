import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { nameRequest, proxyTrust } from './trusted-proxies.ts'

const trusts = proxyTrust(['10.0.0.1'])
const name = (remoteAddress: string, headers: Record<string, string>) =>
  nameRequest({ socket: { remoteAddress }, headers } as unknown as IncomingMessage, trusts)
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const OWN = /^[0-9a-f-]{36}$/

it("keeps a trusted proxy's request id, but nobody else's", () => {
  const headers = { 'x-request-id': 'a-request-of-nginx', traceparent }
  expect(name('10.0.0.1', headers)).toEqual({ id: 'a-request-of-nginx', traceparent })
  expect(name('10.0.0.2', headers)).toEqual({ id: expect.stringMatching(OWN), traceparent: undefined })
})

it.each([
  ['x\ny-and-more', traceparent.toUpperCase()],
  ['short', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
  ['x'.repeat(129), `ff${traceparent.slice(2)}`],
  ['', `${traceparent}, ${traceparent}`],
])('generates its own id instead of %j, and drops %j', (id, parent) => {
  const named = name('10.0.0.1', { 'x-request-id': id, traceparent: parent })
  expect(named).toEqual({ id: expect.stringMatching(OWN), traceparent: undefined })
})
