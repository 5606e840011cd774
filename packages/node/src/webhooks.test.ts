import { Webhook } from 'standardwebhooks'
import { afterEach, expect, it, vi } from 'vitest'
import { signWebhook } from '../../../lib/webhooks/signature/signature.ts'
import { unwrap, WebhookVerificationError } from './webhooks.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const body = '{"event":"file.status_changed","data":{"filename":"été 📷.mp4"}}'
const NOW = Date.parse('2026-11-22T12:00:00Z')

function signed(secrets = [secret], atMs = NOW): Record<string, string> {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] })
  return { ...signWebhook(secrets, { id: 'evt_1', body, atMs }) }
}
afterEach(() => void vi.useRealTimers())

const reasonOf = async (...args: Parameters<typeof unwrap>) =>
  unwrap(...args).then(
    () => 'taken',
    (error) => (error instanceof WebhookVerificationError ? error.reason : error),
  )

it("accepts Sluice's signature, in each format that frameworks provide", async () => {
  const headers = signed()
  const bytes = new TextEncoder().encode(body)
  const event = JSON.parse(body)
  expect(await unwrap(body, headers, secret)).toEqual(event)
  expect(await unwrap(bytes, new Headers(headers), secret)).toEqual(event)
  expect(await unwrap(bytes.buffer, { ...headers, 'webhook-id': ['evt_1'] }, secret)).toEqual(event)
  expect(await unwrap(Buffer.from(body), { ...headers, cookie: undefined }, secret)).toEqual(event)
})

it('accepts the signature of another Standard Webhooks implementation', async () => {
  const headers = signed()
  headers['webhook-signature'] = new Webhook(secret).sign('evt_1', new Date(NOW), body)
  expect(await reasonOf(body, headers, secret)).toBe('taken')
})

it('accepts either secret during a rotation, on both sides', async () => {
  const headers = signed([other, secret])
  expect(await reasonOf(body, headers, secret)).toBe('taken')
  expect(await reasonOf(body, signed(), [other, secret])).toBe('taken')
})

it.each([
  ['another secret', 'mismatch', () => [body, signed(), other]],
  ['a changed body', 'mismatch', () => [`${body} `, signed(), secret]],
  ['another id', 'mismatch', () => [body, { ...signed(), 'webhook-id': 'evt_2' }, secret]],
  [
    'another time',
    'mismatch',
    () => [body, { ...signed(), 'webhook-timestamp': `${NOW / 1000 - 1}` }, secret],
  ],
  ['no headers', 'missing', () => [body, {}, secret]],
  [
    'an unknown signature version',
    'malformed',
    () => [body, { ...signed(), 'webhook-signature': 'v2,AA==' }, secret],
  ],
  [
    'a signature that is not base64',
    'mismatch',
    () => [body, { ...signed(), 'webhook-signature': 'v1,?' }, secret],
  ],
  [
    'a time that is not a number',
    'malformed',
    () => [body, { ...signed(), 'webhook-timestamp': '1e9' }, secret],
  ],
  ['a time more than five minutes ago', 'too_old', () => [body, signed([secret], NOW - 301_000), secret]],
  ['a time more than five minutes ahead', 'too_new', () => [body, signed([secret], NOW + 301_000), secret]],
] as [string, string, () => Parameters<typeof unwrap>][])('refuses %s: %s', async (_, reason, args) => {
  expect(await reasonOf(...args())).toBe(reason)
})

it('ignores signatures after the fifth', async () => {
  const headers = signed()
  const [right] = [headers['webhook-signature']]
  headers['webhook-signature'] = [...Array(5).fill('v1,AAAA'), right].join(' ')
  expect(await reasonOf(body, headers, secret)).toBe('mismatch')
})

it('reports an invalid secret', async () => {
  await expect(unwrap(body, signed(), 'whsec_')).rejects.toThrow(TypeError)
  await expect(unwrap(body, signed(), 'ümlaut')).rejects.toThrow('whsec_ followed by base64')
})
