import { expect, it } from 'vitest'
import { createVault } from './vault.ts'

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

it('opens a sealed secret only in its own context', () => {
  const vault = createVault([first])
  const sealed = vault.seal('wJalrXUtnFEMI', 'data_store:1')
  expect(sealed).not.toContain('wJalr')
  expect(vault.open(sealed, 'data_store:1')).toBe('wJalrXUtnFEMI')
  expect(() => vault.open(sealed, 'data_store:2')).toThrow()
  expect(vault.seal('wJalrXUtnFEMI', 'data_store:1')).not.toBe(sealed)
})

it('opens with every key and seals with the first', () => {
  const old = createVault([first]).seal('x', 'c')
  const rotated = createVault([second, first])
  expect(rotated.open(old, 'c')).toBe('x')
  expect(rotated.isCurrent(old, 'c')).toBe(false)
  expect(rotated.isCurrent(rotated.seal('x', 'c'), 'c')).toBe(true)
  expect(() => createVault([second]).open(old, 'c')).toThrow(
    expect.objectContaining({
      code: 'unavailable',
      cause: expect.objectContaining({ message: expect.stringMatching(/No key in ENCRYPTION_KEY/) }),
    }),
  )
})

it('refuses a secret with a changed byte', () => {
  const vault = createVault([first])
  const parts = vault.seal('hello', 'c').split('.')
  parts[3] = Buffer.from('hellp').toString('base64url')
  expect(() => vault.open(parts.join('.'), 'c')).toThrow()
})

it('refuses a secret with a truncated tag', () => {
  const vault = createVault([first])
  const parts = vault.seal('hello', 'c').split('.')
  parts[4] = Buffer.from(parts[4]!, 'base64url').subarray(0, 4).toString('base64url')
  expect(() => vault.open(parts.join('.'), 'c')).toThrow()
})

const place = (column: string, id = '1') => ({ column: `data_stores.${column}`, id, row: `data_store:${id}` })
const [accessKey, secretKey] = [place('access_key_id'), place('secret_access_key')]

it("opens a column's secret only in that column of that row", () => {
  const vault = createVault([first])
  const sealed = vault.seal('wJalrXUtnFEMI', secretKey)
  expect(vault.open(sealed, secretKey)).toBe('wJalrXUtnFEMI')
  expect(() => vault.open(sealed, accessKey)).toThrow()
  expect(() => vault.open(sealed, place('secret_access_key', '2'))).toThrow()
  expect(() => vault.open(sealed, secretKey.row)).toThrow()
})

it('opens secrets that an older release bound only to the row, unless all must be bound to their columns', () => {
  const vault = createVault([first])
  const older = vault.seal('wJalrXUtnFEMI', secretKey.row)
  expect(vault.open(older, secretKey)).toBe('wJalrXUtnFEMI')
  expect(vault.isCurrent(older, secretKey)).toBe(false)
  expect(vault.isCurrent(vault.seal('x', secretKey), secretKey)).toBe(true)
  expect(() => vault.open(older.replace('v1', 'v2'), secretKey)).toThrow()
  const strict = createVault([first], { boundOnly: true })
  expect(() => strict.open(older, secretKey)).toThrow(
    expect.objectContaining({
      cause: expect.objectContaining({ message: expect.stringMatching(/not bound to its column/) }),
    }),
  )
  expect(strict.open(vault.seal('y', secretKey), secretKey)).toBe('y')
  expect(strict.open(vault.seal('z', 'mail'), 'mail')).toBe('z')
})
