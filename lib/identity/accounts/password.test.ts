import { expect, it } from 'vitest'
import { hashPassword, verifyPassword } from './password.ts'

it('accepts the right password and no other', async () => {
  const stored = await hashPassword('correct horse')
  expect(stored).toMatch(/^scrypt\$15\$8\$3\$/)
  expect(stored).not.toContain('horse')
  expect(await verifyPassword('correct horse', stored)).toBe(true)
  expect(await verifyPassword('correct horsf', stored)).toBe(false)
})

it('accepts the same characters in another Unicode normalization form', async () => {
  expect(await verifyPassword('cafe\u0301-cafe', await hashPassword('caf\u00e9-cafe'))).toBe(true)
})

it('returns false for a missing account', async () => {
  expect(await verifyPassword('anything', null)).toBe(false)
})
