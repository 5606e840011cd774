import { expect, it } from 'vitest'

import { toProviderProfile } from './providers.ts'

const given = { providerAccountId: '1', email: 'a@example.com', name: null }

it.each([
  ['google', { email_verified: true }, true],
  ['google', { email_verified: false }, false],
  ['google', { email_verified: 'true' }, false],
  ['google', {}, false],
  ['google', undefined, false],
  ['oidc', { email_verified: true }, true],
  ['oidc', { email_verified: 'true' }, false],
  ['oidc', {}, false],
  ['github', { email_verified: true }, false],
  ['github', { email: 'a@example.com' }, false],
] as const)('for an address from %s with %j, sets emailVerified to %s', (provider, profile, proven) => {
  const { emailVerified } = toProviderProfile({ ...given, provider }, profile)
  expect(emailVerified).toBe(proven)
})
