import { createHmac } from 'node:crypto'

export type SignedHeaders = {
  'X-Service-Signature': string
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

type Message = { id: string; body: string; atMs: number }

/**
 * Makes the two signatures of a webhook: Sluice's own, and that of Standard Webhooks 1.0. Both are HMAC-SHA256, keyed
 * with the Base64-decoded secret. After a rotation there is a signature for each of several secrets.
 */
export function signWebhook(secrets: string[], { id, body, atMs }: Message): SignedHeaders {
  const t = String(Math.floor(atMs / 1000))
  return {
    'X-Service-Signature': [
      `t=${t}`,
      ...secrets.map((secret) => `v1=${serviceSignature(secret, t, body)}`),
    ].join(','),
    'webhook-id': id,
    'webhook-timestamp': t,
    'webhook-signature': secrets.map((secret) => `v1,${standardSignature(secret, id, t, body)}`).join(' '),
  }
}

export function serviceSignature(secret: string, t: string, body: string): string {
  return createHmac('sha256', keyOf(secret)).update(`${t}.${body}`).digest('hex')
}

export function standardSignature(secret: string, id: string, t: string, body: string): string {
  return createHmac('sha256', keyOf(secret)).update(`${id}.${t}.${body}`).digest('base64')
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
}
