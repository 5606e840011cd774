import { createHash, hash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'

/**
 * Ids and secrets as defined in section 1 of the contract. Every secret has a prefix that shows its kind, and enough
 * random bytes that its SHA-256 can be stored without a salt.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const SECRET_BYTES = 32
/** 62^43 is the first power of 62 above 2^256, so 43 digits are enough for 32 bytes. */
const SECRET_DIGITS = 43

type SecretPrefix = 'sk_' | 'tmp_' | 'ak_'

export function newPipeId(): string {
  return `pipe_${Array.from(randomBytes(20), (byte) => BASE32[byte & 31]).join('')}`
}

export function newSecret(prefix: SecretPrefix): string {
  let value = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`)
  let digits = ''
  while (digits.length < SECRET_DIGITS) {
    digits = BASE62[Number(value % 62n)] + digits
    value /= 62n
  }
  return prefix + digits
}

const LINK_CODE_DIGITS = 22

/** A code for the address of an upload link: 131 random bits. It has no prefix, because people see the address. */
export function newLinkCode(): string {
  return Array.from({ length: LINK_CODE_DIGITS }, () => BASE62[randomInt(BASE62.length)]).join('')
}

export function newWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

/** The hash by which a secret is stored and looked up. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret)
}

export function secretsEqual(a: string, b: string): boolean {
  const [left, right] = [createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest()]
  return timingSafeEqual(left, right)
}

/**
 * UUID version 7 (RFC 9562, 5.7): ordered by time, so rows in growing tables stay in index order. Within a millisecond,
 * a counter that starts at a low random value keeps this process's ids in order (6.2, method 1).
 */
export function uuidv7(nowMs: number = Date.now()): string {
  // Node fetches the random bytes for many ids at once. The last two groups of a version 4 UUID are also valid in a
  // version 7 UUID.
  const random = randomUUID()
  counter =
    nowMs === counterMs
      ? Math.min(counter + 1, COUNTER_MAX)
      : Number.parseInt(random.slice(0, 3), 16) & COUNTER_START_MAX
  counterMs = nowMs
  const time = nowMs.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${random.slice(19)}`
}

/** The same id for the same values: a version 8 UUID (RFC 9562, 5.8) with custom bits. */
export function uuidFrom(...values: (string | boolean | null)[]): string {
  const hex = createHash('sha256').update(JSON.stringify(values)).digest('hex')
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The time in the id: when it was created. */
export function uuidv7Ms(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

const COUNTER_MAX = 0xfff
const COUNTER_START_MAX = 0x7ff
let counterMs = 0
let counter = 0

/** An id below every version 7 id created at that time or later, to find rows by age using their primary key. */
export function firstUuidAt(ms: number): string {
  return `${uuidv7(ms).slice(0, 14)}7000-8000-000000000000`
}

/** An id below every later id, provided that clocks differ by less than a day. */
export function firstUuidAfter(id: string): string {
  return firstUuidAt(Math.max(0, Number.parseInt(id.replace('-', '').slice(0, 12), 16) - DAY_MS))
}

const DAY_MS = 86_400_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const PIPE_ID = /^pipe_[a-z2-7]{20}$/

export const isUuid = (text: string): boolean => UUID.test(text)
export const isPipeId = (text: string): boolean => PIPE_ID.test(text)
