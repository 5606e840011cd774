import type { Person } from '../../identity/sessions/read-session.ts'
import type { Config } from '../../platform/settings/config.ts'

/** Somebody who runs the service: an account of OPERATORS whose address is verified. */
export type Operator = { userId: string; email: string }

export function operatorOf(
  { operators }: Pick<Config, 'operators'>,
  { userId, email, emailVerified }: Pick<Person, 'userId' | 'email' | 'emailVerified'>,
): Operator | undefined {
  return emailVerified && operators.has(email.toLowerCase()) ? { userId, email } : undefined
}
