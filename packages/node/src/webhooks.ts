import type { SluiceEvent } from './event-kinds.ts'
import type { FileStatusChanged } from './generated/types.ts'

/** In any framework's format: a `Headers` object, or a plain object such as the `headers` of a Node request. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

/** The reason is for your log: the sender only needs to know that you rejected the webhook. */
export type RefusalReason = 'missing' | 'malformed' | 'too_old' | 'too_new' | 'mismatch'

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason) {
    super(MESSAGES[reason])
    this.reason = reason
  }
}

const MESSAGES: Record<RefusalReason, string> = {
  missing: 'The webhook has no signature.',
  malformed: "The webhook's signature cannot be read.",
  too_old: 'The webhook was signed more than five minutes ago.',
  too_new: 'The webhook was signed more than five minutes ahead of this clock.',
  mismatch: "The webhook's signature does not match this body and this secret.",
}

const TOLERANCE_S = 300
/** A rotation produces two signatures. Any after the fifth are ignored. */
const MAX_SIGNATURES = 5

/**
 * The event of a webhook with a valid signature (Standard Webhooks); anything else throws a WebhookVerificationError.
 * `body` is the raw body, before any parser touched it. Pass several secrets while one replaces another. For an
 * output that subscribes to more than `file.status_changed`, specify the type: `unwrap<SluiceEvent>(…)`.
 */
export async function unwrap<Event extends SluiceEvent = FileStatusChanged>(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | string[],
): Promise<Event> {
  return JSON.parse(await verify(body, headers, secret))
}

/** The body, if its signature is valid. */
export async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | string[],
): Promise<string> {
  const [id, t, list] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    read(headers, name),
  )
  if (!id || !t || !list) throw new WebhookVerificationError('missing')
  const signatures = list.split(' ').flatMap((entry) => (entry.startsWith('v1,') ? [entry.slice(3)] : []))
  if (!/^\d{1,12}$/.test(t) || signatures.length === 0) throw new WebhookVerificationError('malformed')
  const raw = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const signed = join(new TextEncoder().encode(`${id}.${t}.`), raw)
  const keys = await Promise.all([secret].flat().map(importKey))
  if (!(await isSignedBy(keys, signatures.slice(0, MAX_SIGNATURES), signed)))
    throw new WebhookVerificationError('mismatch')
  const ageS = Date.now() / 1000 - Number(t)
  if (Math.abs(ageS) > TOLERANCE_S) throw new WebhookVerificationError(ageS > 0 ? 'too_old' : 'too_new')
  return new TextDecoder().decode(raw)
}

function read(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1]
  return Array.isArray(found) ? found[0] : found
}

function importKey(secret: string): Promise<CryptoKey> {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''))
  if (!bytes?.length)
    throw new TypeError('A webhook secret is whsec_ followed by base64, as the Pipe shows it.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** `verify` compares in constant time. */
async function isSignedBy(
  keys: CryptoKey[],
  signatures: string[],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const given = signatures.flatMap((signature) => decodeBase64(signature) ?? [])
  const verdicts = keys.flatMap((key) => given.map((one) => crypto.subtle.verify('HMAC', key, one, signed)))
  return (await Promise.all(verdicts)).some(Boolean)
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function join(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(one.length + other.length)
  joined.set(one)
  joined.set(other, one.length)
  return joined
}
