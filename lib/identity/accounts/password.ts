import { randomBytes, timingSafeEqual } from 'node:crypto'
import { deriveKey } from './scrypt-pool.ts'

const COST = { logN: 15, r: 8, p: 3 }
const HASH_BYTES = 32
/** Costs as much to verify as any stored hash, but matches no password. */
const NOBODY = `scrypt$${COST.logN}$${COST.r}$${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/**
 * Passwords are hashed with scrypt. The stored format includes the cost, so that it can be raised for new passwords:
 * `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await stretch(password, salt, COST)
  return ['scrypt', COST.logN, COST.r, COST.p, salt.toString('base64url'), hash.toString('base64url')].join(
    '$',
  )
}

/** Takes the same time for a missing account (`null`) as for an existing one. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, logN, r, p, salt, hash] = (stored ?? NOBODY).split('$')
  const cost = { logN: Number(logN), r: Number(r), p: Number(p) }
  const wanted = Buffer.from(hash!, 'base64url')
  const given = await stretch(password, Buffer.from(salt!, 'base64url'), cost)
  return timingSafeEqual(given, wanted) && stored !== null
}

function stretch(password: string, salt: Buffer, { logN, r, p }: typeof COST): Promise<Buffer> {
  const N = 2 ** logN
  const cost = { N, r, p, maxmem: 256 * N * r }
  return deriveKey({ password: password.normalize('NFKC'), salt, bytes: HASH_BYTES, cost })
}
