import { createHmac } from 'node:crypto'
import { minutes } from '../../platform/kernel/clock.ts'
import { secretsEqual } from '../../platform/kernel/ids.ts'

export type SignedHeaders = {
  'X-Service-Signature': string
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

type Message = { id: string; body: string; atMs: number }

/**
 * Creates a webhook's two signatures: Sluice's own, and that of Standard Webhooks 1.0. Both are HMAC-SHA256, keyed
 * with the Base64-decoded secret. During a rotation, each header contains a signature for every secret.
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

/**
 * The result for one of the two signatures. `mismatch` means that the secret is wrong or a byte has changed; which of
 * them cannot be determined.
 */
export type Finding = 'valid' | 'missing' | 'malformed' | 'too_old' | 'too_new' | 'mismatch'
export type Verdict = { service: Finding; standard: Finding }

/** A received webhook, with header names in lower case. */
type Received = { headers: Record<string, string | undefined>; body: string }

const TOLERANCE_MS = minutes(5)
/** A header may list several signatures. A rotation produces two. Any after the fifth are ignored. */
const MAX_SIGNATURES = 5

/** Verifies a webhook like a receiver: for the inbox, and to explain why a receiver's own check fails. */
export function verifyWebhook({ headers, body }: Received, secrets: string[], nowMs: number): Verdict {
  return {
    service: verifyService(headers['x-service-signature'], body, secrets, nowMs),
    standard: verifyStandard(headers, body, secrets, nowMs),
  }
}

function verifyService(header: string | undefined, body: string, secrets: string[], nowMs: number): Finding {
  if (!header) return 'missing'
  const parts = header
    .split(',')
    .map((part) => part.trim().split(/=(.*)/s, 2) as [string, string | undefined])
  const t = parts.find(([name]) => name === 't')?.[1]
  const given = parts.flatMap(([name, value]) => (name === 'v1' && value ? [value] : []))
  if (!t || given.length === 0) return 'malformed'
  return judge(t, given, (secret) => serviceSignature(secret, t, body), secrets, nowMs)
}

function verifyStandard(
  headers: Received['headers'],
  body: string,
  secrets: string[],
  nowMs: number,
): Finding {
  const [id, t, list] = [headers['webhook-id'], headers['webhook-timestamp'], headers['webhook-signature']]
  if (!id || !t || !list) return 'missing'
  const given = list.split(' ').flatMap((entry) => (entry.startsWith('v1,') ? [entry.slice(3)] : []))
  if (given.length === 0) return 'malformed'
  return judge(t, given, (secret) => standardSignature(secret, id, t, body), secrets, nowMs)
}

function judge(
  t: string,
  given: string[],
  sign: (secret: string) => string,
  secrets: string[],
  nowMs: number,
): Finding {
  if (!/^\d{1,12}$/.test(t)) return 'malformed'
  const right = secrets.map(sign)
  const matches = given
    .slice(0, MAX_SIGNATURES)
    .some((one) => right.some((other) => secretsEqual(one, other)))
  if (!matches) return 'mismatch'
  const ageMs = nowMs - Number(t) * 1000
  if (ageMs > TOLERANCE_MS) return 'too_old'
  return ageMs < -TOLERANCE_MS ? 'too_new' : 'valid'
}
