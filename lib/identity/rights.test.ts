import { expect, it } from 'vitest'
import { ALL_RIGHTS, assertMay, lesserRole, may, ROLES } from './rights.ts'

it('gives each role its rights', () => {
  const table = Object.fromEntries(
    ROLES.map((role) => [role, ALL_RIGHTS.filter((right) => may({ role }, right))]),
  )
  expect(table).toEqual({
    viewer: ['see'],
    developer: ['see', 'operate', 'build'],
    admin: ['see', 'operate', 'build', 'administer'],
    owner: ['see', 'operate', 'build', 'administer', 'own'],
  })
})

it('names the required role in errors for people and for keys', () => {
  expect(() => assertMay({ role: 'developer' }, 'administer')).toThrow(
    'Your role is developer; this requires the role admin.',
  )
  expect(() => assertMay({ role: 'viewer', kind: 'account_key' }, 'build')).toThrow(
    'This account key has the rights of a viewer; this requires those of a developer.',
  )
})

it('picks the role with fewer rights', () => {
  expect(lesserRole('admin', 'viewer')).toBe('viewer')
  expect(lesserRole('developer', 'owner')).toBe('developer')
})
