import type { FieldError } from '../kernel/errors.ts'
import { invalidRequest } from '../kernel/parse-input.ts'
import { takeFromLimit } from '../rate-limits/take.ts'
import type { Runtime } from '../runtime.ts'
import { findUser } from './find-user.ts'
import { verifyPassword } from './password.ts'

const PER_USER = { burst: 10, refillMs: 60_000 }

/**
 * Asks somebody who is signed in for their password again. All places that do share one limit, so that a session that was
 * taken cannot try passwords. Somebody who only signed in by a provider has none.
 */
export async function assertPassword(
  runtime: Pick<Runtime, 'db' | 'clock'>,
  userId: string,
  password: string,
  fault: FieldError,
): Promise<void> {
  await takeFromLimit(runtime, `password:${userId}`, PER_USER)
  const user = await findUser(runtime.db, userId)
  if (!user?.passwordHash || (await verifyPassword(password, user.passwordHash))) return
  throw invalidRequest([fault])
}
