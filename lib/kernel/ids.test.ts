import { describe, expect, it } from 'vitest'
import {
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
  it('makes a Pipe id of 20 base32 characters', () => {
    expect(newPipeId()).toMatch(/^pipe_[a-z2-7]{20}$/)
    expect(isPipeId(newPipeId())).toBe(true)
    expect(isPipeId('pipe_short')).toBe(false)
  })

  it.each(['sk_', 'tmp_', 'ak_'] as const)('makes a %s secret of 32 random bytes in base62', (prefix) => {
    const secret = newSecret(prefix)
    expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{43}$`))
    expect(newSecret(prefix)).not.toBe(secret)
  })

  it('makes a webhook secret of base64 over 32 bytes', () => {
    expect(Buffer.from(newWebhookSecret().slice('whsec_'.length), 'base64')).toHaveLength(32)
  })

  it('hashes with SHA-256 and compares whole secrets', () => {
    expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(secretsEqual('a', 'a')).toBe(true)
    expect(secretsEqual('a', 'ab')).toBe(false)
  })

  it('makes UUIDs of version 7 in the order of time', () => {
    const ids = [1, 2, 3].map((n) => uuidv7(1_700_000_000_000 + n))
    expect(ids).toEqual([...ids].sort())
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(isUuid(ids[0]!)).toBe(true)
  })

  it('keeps the order of a thousand UUIDs of one millisecond', () => {
    const ids = Array.from({ length: 1000 }, () => uuidv7(1_700_000_000_000))
    expect(ids).toEqual([...ids].sort())
    expect(new Set(ids).size).toBe(1000)
  })

  it('knows the first id of a time', () => {
    const [before, at] = [uuidv7(1_700_000_000_000 - 1), uuidv7(1_700_000_000_000)]
    const first = firstUuidAt(1_700_000_000_000)
    expect(isUuid(first)).toBe(true)
    expect([at, first, before].sort()).toEqual([before, first, at])
  })
})
