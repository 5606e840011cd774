import { createHmac, timingSafeEqual } from 'node:crypto'

// body: the raw bytes or text of the request, before any JSON parser touched it
// header: the X-Service-Signature header; secret: whsec_…
export function verifyWebhook(body, header, secret) {
  const parts = (header ?? '').split(',').map((part) => part.split('='))
  const t = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!(Math.abs(Date.now() / 1000 - Number(t || Number.NaN)) <= 300)) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${t}.`).update(body).digest()
  return parts.some(([name, value]) => {
    const given = Buffer.from(value ?? '', 'hex')
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
