import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'
import { createEmailLink } from './email-link.ts'
import { findUser } from './find-user.ts'
import { verifyMail } from './mails.ts'

const PER_USER = { burst: 3, refillMs: 600_000 }

/** Sends the verification again, to somebody who is signed in. */
export async function requestVerification(runtime: MailingRuntime, userId: string): Promise<void> {
  await takeFromLimit(runtime, `verify:${userId}`, PER_USER)
  await runtime.db.transaction(async (tx) => {
    const user = await findUser(tx, userId)
    if (!user || user.emailVerifiedAt) return
    const link = await createEmailLink({ ...runtime, db: tx }, 'verify', user)
    await enqueueMail(runtime, tx, { kind: 'mail', mail: verifyMail(user.email, link) })
  })
}
