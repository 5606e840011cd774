import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  firstUuidAfter,
  firstUuidAt,
  hashSecret,
  isPipeId,
  isUuid,
  newPipeId,
  newSecret,
  newWebhookSecret,
  secretsEqual,
  uuidv7,
} from './ids.ts'

describe('ids and secrets', () => {
  it('generates a Pipe id of 20 base32 characters', () => {
    expect(newPipeId()).toMatch(/^pipe_[a-z2-7]{20}$/)
    expect(isPipeId(newPipeId())).toBe(true)
    expect(isPipeId('pipe_short')).toBe(false)
  })

  it.each(['sk_', 'tmp_', 'ak_'] as const)(
    'generates a %s secret from 32 random bytes in base62',
    (prefix) => {
      const secret = newSecret(prefix)
      expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{43}$`))
      expect(newSecret(prefix)).not.toBe(secret)
    },
  )

  it('encodes any 32 bytes as 43 base62 digits', () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    for (let n = 0; n < 1000; n++) {
      const text = newSecret('tmp_').slice('tmp_'.length)
      expect(text).toMatch(/^[0-9A-Za-z]{43}$/)
      const value = [...text].reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)
      expect(value < 2n ** 256n).toBe(true)
    }
  })

  it('uses exactly the 32 characters allowed in a Pipe id, each equally often', () => {
    const seen = new Map<string, number>()
    const drawn = 2000
    for (let n = 0; n < drawn; n++)
      for (const one of newPipeId().slice('pipe_'.length)) seen.set(one, (seen.get(one) ?? 0) + 1)
    expect([...seen.keys()].sort().join('')).toBe('234567abcdefghijklmnopqrstuvwxyz')
    // 1,250 of each are expected; a deviation of a third cannot be chance (ten standard deviations).
    for (const count of seen.values()) expect(Math.abs(count - (drawn * 20) / 32)).toBeLessThan(400)
  })

  it('distinguishes its own ids from any other string', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.uuid().map((id) => id.toUpperCase()),
        ),
        (text) => {
          expect(isPipeId(text)).toBe(false)
          expect(isUuid(text)).toBe(/^[0-9-]+$/.test(text) && text.length === 36)
        },
      ),
    )
    fc.assert(
      fc.property(fc.nat({ max: 24 }), fc.string({ minLength: 1, maxLength: 2 }), (at, other) => {
        const id = newPipeId()
        const changed = id.slice(0, at) + other + id.slice(at + 1)
        expect(isPipeId(changed)).toBe(/^pipe_[a-z2-7]{20}$/.test(changed))
        expect(isPipeId(`${id}\n`)).toBe(false)
      }),
    )
  })

  it('generates a webhook secret as base64 of 32 bytes', () => {
    expect(Buffer.from(newWebhookSecret().slice('whsec_'.length), 'base64')).toHaveLength(32)
  })

  it('hashes with SHA-256 and compares entire secrets', () => {
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(secretsEqual('a', 'a')).toBe(true)
    expect(secretsEqual('a', 'ab')).toBe(false)
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(secretsEqual(a, b)).toBe(a === b)
        expect(secretsEqual(a, a)).toBe(true)
      }),
    )
  })

  it('generates version 7 UUIDs in time order', () => {
    const ids = [1, 2, 3].map((n) => uuidv7(1_700_000_000_000 + n))
    expect(ids).toEqual([...ids].sort())
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(isUuid(ids[0]!)).toBe(true)
  })

  it('keeps the order of a thousand UUIDs within one millisecond', () => {
    const ids = Array.from({ length: 1000 }, () => uuidv7(1_700_000_000_000))
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(1000)
  })

  it('orders ids by time, and puts the first id of a time after all earlier ids', () => {
    const time = fc.integer({ min: 1, max: 2 ** 47 })
    fc.assert(
      fc.property(time, time, (one, other) => {
        const [early, late] = [Math.min(one, other), Math.max(one, other)]
        const [first, second] = [uuidv7(early), uuidv7(late)]
        expect(first < second).toBe(true)
        expect(Number.parseInt(second.replace('-', '').slice(0, 12), 16)).toBe(late)
        expect(firstUuidAt(late) <= second).toBe(true)
        if (early < late) expect(first < firstUuidAt(late)).toBe(true)
      }),
    )
  })

  it('computes an id below every id of a given time', () => {
    const [before, at] = [uuidv7(1_700_000_000_000 - 1), uuidv7(1_700_000_000_000)]
    const first = firstUuidAt(1_700_000_000_000)
    expect(isUuid(first)).toBe(true)
    expect([at, first, before].sort()).toEqual([before, first, at])
  })

  it('computes an id below every later id, even if clocks differ by up to a day', () => {
    const [id, day] = [uuidv7(1_700_000_000_000), 86_400_000]
    expect(firstUuidAfter(id) <= uuidv7(1_700_000_000_000 - day)).toBe(true)
    expect(firstUuidAfter(id) > uuidv7(1_700_000_000_000 - day - 1)).toBe(true)
  })
})
