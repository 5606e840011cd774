import { createHmac } from 'node:crypto'

/** As Sluice signs a webhook: for this machine alone, so the secret is another one. */
export function signedHeaders(secret: string, id: string, body: string): Record<string, string> {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const t = Math.floor(Date.now() / 1000)
  const hmac = (text: string) => createHmac('sha256', key).update(text)
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Sluice-Webhooks/1.0',
    'X-Service-Signature': `t=${t},v1=${hmac(`${t}.${body}`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': String(t),
    'webhook-signature': `v1,${hmac(`${id}.${t}.${body}`).digest('base64')}`,
  }
}
