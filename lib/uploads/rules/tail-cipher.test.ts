import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createVault } from '../../platform/vault.ts'
import { createTailCipher, SEAL_BYTES } from './tail-cipher.ts'

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const tailCipher = createTailCipher(createVault([first]))
const bytes = randomBytes(1000)
const sealed = { offsetBytes: 5, ...tailCipher.sealer('one')(5, bytes) }

it('decrypts what it encrypted, only for its own file and offset', () => {
  expect(sealed.bytes.length).toBe(bytes.length + SEAL_BYTES)
  expect(sealed.bytes.includes(bytes.subarray(500, 516))).toBe(false)
  expect(tailCipher.opener('one')(sealed).equals(bytes)).toBe(true)
  expect(() => tailCipher.opener('two')(sealed)).toThrow()
  expect(() => tailCipher.opener('one')({ ...sealed, offsetBytes: 6 })).toThrow()
})

it("decrypts no row with another file's key", () => {
  const other = tailCipher.sealer('two')(5, bytes)
  expect(() => tailCipher.opener('one')({ ...sealed, key: other.key })).toThrow()
})

it.each([0, 11, 12, 500, 1011, 1012, 1027])('refuses a changed byte: %i', (at) => {
  const changed = Buffer.from(sealed.bytes)
  changed[at]! ^= 1
  expect(() => tailCipher.opener('one')({ ...sealed, bytes: changed })).toThrow()
})

it.each([0, 11, 28, 1027])('refuses a row cut down to %i bytes', (length) => {
  expect(() => tailCipher.opener('one')({ ...sealed, bytes: sealed.bytes.subarray(0, length) })).toThrow()
})

it('encrypts the same bytes at the same offset differently each time', () => {
  const seal = tailCipher.sealer('one')
  const [once, again] = [seal(0, bytes), seal(0, bytes)]
  expect(once.key).toBe(again.key)
  expect(once.bytes.equals(again.bytes)).toBe(false)
  expect(tailCipher.sealer('one')(0, bytes).key).not.toBe(once.key)
})

it('decrypts nothing without a key from ENCRYPTION_KEY', () => {
  const stranger = createTailCipher(createVault([second]))
  expect(() => stranger.opener('one')(sealed)).toThrow(expect.objectContaining({ code: 'unavailable' }))
  expect(
    createTailCipher(createVault([second, first]))
      .opener('one')(sealed)
      .equals(bytes),
  ).toBe(true)
})
