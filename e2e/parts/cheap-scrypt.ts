import { vi } from 'vitest'

/** Of the database ring, which would spend minutes on passwords: their full cost is in `lib/accounts/password.test.ts`. */
vi.mock('node:crypto', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:crypto')>()
  const scrypt: typeof real.scrypt = (password, salt, bytes, ...rest: unknown[]) => {
    const done = rest.at(-1) as Parameters<typeof real.scrypt>[3]
    real.scrypt(password, salt, bytes, { N: 16, r: 1, p: 1 } as never, done as never)
  }
  return { ...real, scrypt }
})
