import { deliverMail } from '../../platform/mail/deliver-mail.ts'
import type { ConfiguredRuntime } from '../../platform/runtime.ts'
import { createEmailLink } from './email-link.ts'
import { findUserByEmail } from './find-user.ts'
import { resetMail } from './mails.ts'

/** The worker's half of a password reset. */
export async function mailPasswordReset(runtime: ConfiguredRuntime, email: string): Promise<void> {
  const user = await findUserByEmail(runtime.db, email)
  if (!user) return
  const link = await createEmailLink(runtime, 'reset', user)
  await deliverMail(runtime, resetMail(user.email, link))
}
