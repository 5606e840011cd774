import { expect, it } from 'vitest'
import { newPasswordField } from './users.ts'

const accepts = (password: string) => newPasswordField.safeParse(password).success

it.each([
  'password123',
  'P@ssw0rd!2026',
  'Qwertyuiop1',
  '1234567890',
  'aaaaaaaaaaaa',
  'ILoveYou1234',
  'abcdef123456',
  'Sluice2026!',
])('rejects the new password %s', (password) => expect(accepts(password)).toBe(false))

it.each(['correct horse', 'kx93-mw20-pq', 'my dragon sleeps', 'Пароль от дома', 'password of a friend'])(
  'accepts the new password %s',
  (password) => expect(accepts(password)).toBe(true),
)
