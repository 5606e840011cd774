import { minutes } from '../../platform/kernel/clock.ts'
import { type FieldError, invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import type { Session } from '../sessions/read-session.ts'
import { verifyPassword } from './password.ts'
import { findUser } from './users.ts'

const PER_USER = { burst: 10, refillMs: 60_000 }
const FRESH_MS = minutes(10)

/**
 * Requires signed-in users to prove their identity again, so that a stolen session is not enough: with their password
 * or, if they have none, by having just signed in with their provider. All callers share one limit. Returns the hash of
 * the password that was given.
 */
export async function assertOwner(
  runtime: CoreRuntime,
  { userId, signedInAt }: Pick<Session, 'userId' | 'signedInAt'>,
  password: string,
  fault: FieldError = { field: 'password', message: 'does not match your password' },
): Promise<string | null> {
  await takeFromLimit(runtime, `password:${userId}`, PER_USER)
  const user = await findUser(runtime.db, userId)
  if (user?.passwordHash) {
    if (await verifyPassword(password, user.passwordHash)) return user.passwordHash
    throw invalidRequest([fault])
  }
  if (user && runtime.clock.now() - signedInAt.getTime() < FRESH_MS) return null
  throw new SluiceError(
    'forbidden',
    'To confirm your identity, sign out, sign in again with your provider, and do this within 10 minutes.',
  )
}
