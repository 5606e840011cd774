import { and, eq } from 'drizzle-orm'
import { users } from '#drizzle/schema/index.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { CoreRuntime, MailingRuntime } from '../../platform/runtime.ts'
import { createEmailLink, findEmailLink, useEmailLink } from './email-link.ts'
import { verifyMail } from './mails.ts'
import { verifyPassword } from './password.ts'
import { findUser } from './users.ts'

const PER_USER = { burst: 3, refillMs: 600_000 }

/** Sends the verification email to a signed-in user again. */
export async function requestVerification(runtime: MailingRuntime, userId: string): Promise<void> {
  await takeFromLimit(runtime, `verify:${userId}`, PER_USER)
  await runtime.db.transaction(async (tx) => {
    const user = await findUser(tx, userId)
    if (!user || user.emailVerifiedAt) return
    const link = await createEmailLink({ ...runtime, db: tx }, 'verify', user)
    await enqueueMail(runtime, tx, { kind: 'mail', mail: verifyMail(user.email, link) })
  })
}

const PER_LINK = { burst: 10, refillMs: 60_000 }

type Given = {
  token: string
  password: string
  /** The user who is signed in to Sluice in the browser where the link was opened, if any. */
  userId: string | undefined
}

/**
 * The link proves access to the mailbox; the password proves that the same person created the account. Otherwise, a
 * stranger could sign up with someone's address, wait for them to open the link, and share their account. For an
 * account without a password, the session proves it.
 */
export async function verifyEmail(
  runtime: CoreRuntime,
  { token, password, userId }: Given,
): Promise<{ email: string }> {
  const { db, clock } = runtime
  const link = await findEmailLink(runtime, 'verify', token)
  await takeFromLimit(runtime, `verify:link:${hashSecret(token)}`, PER_LINK)
  const user = await findUser(db, link.userId)
  if (user?.passwordHash) {
    if (!(await verifyPassword(password, user.passwordHash)))
      throw invalidRequest([{ field: 'password', message: 'is not the one you signed up with' }])
  } else if (link.userId !== userId) {
    throw new SluiceError('forbidden', 'Sign in with your provider first, then open the link again.')
  }
  return db.transaction(async (tx) => {
    const { email } = await useEmailLink({ db: tx, clock }, 'verify', token)
    await tx
      .update(users)
      .set({ emailVerifiedAt: new Date(clock.now()) })
      .where(and(eq(users.id, link.userId), eq(users.email, email)))
    return { email }
  })
}
