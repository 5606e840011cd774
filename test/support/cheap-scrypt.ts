import { scryptSync } from 'node:crypto'
import { vi } from 'vitest'
import type { Stretch } from '#lib/identity/accounts/scrypt-pool.ts'

/**
 * Makes password hashing cheap for the database tests, which would otherwise spend minutes on it.
 * `lib/identity/accounts/password.test.ts` tests hashing at full cost.
 */
vi.mock('#lib/identity/accounts/scrypt-pool.ts', () => ({
  deriveKey: async ({ password, salt, bytes }: Stretch) =>
    scryptSync(password, salt, bytes, { N: 16, r: 1, p: 1 }),
}))
