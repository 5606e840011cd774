import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '#drizzle/schema/index.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeForAddress, takeFromLimit } from '../../platform/rate-limits.ts'
import type { MailingRuntime, Runtime } from '../../platform/runtime.ts'
import { signOutEverywhere } from '../sessions/sessions.ts'
import { dropResetLinks, findEmailLink, useEmailLink } from './email-link.ts'
import { passwordChangedMail, turnedOffMail } from './mails.ts'
import { hashPassword } from './password.ts'
import { mustVerify } from './sign-in.ts'
import { turnOutStrangers } from './turn-out-strangers.ts'
import { emailField, findUser, newPasswordField } from './users.ts'

export const passwordResetRequest = z.strictObject({ email: emailField })

const PER_ADDRESS = { burst: 10, refillMs: 60_000 }
const PER_ACCOUNT = { burst: 3, refillMs: 600_000 }

/** Does and answers the same whether there is such an account or not. */
export async function requestPasswordReset(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue' | 'vault'>,
  { email }: z.output<typeof passwordResetRequest>,
  address: string,
): Promise<void> {
  await takeForAddress(runtime, 'reset', address, PER_ADDRESS)
  await takeFromLimit(runtime, `reset:account:${hashSecret(email.toLowerCase())}`, PER_ACCOUNT)
  await enqueueMail(runtime, runtime.db, { kind: 'password-reset', email })
}

export const passwordReset = z.strictObject({ token: z.string().max(100), password: newPasswordField })

/**
 * Whoever opened the link holds the mailbox, so the address counts as verified and they may have a session at once, also
 * where others have used up the limit of sign-ins. Every session of before ends.
 */
export async function resetPassword(
  { db, clock, config, queue, vault }: MailingRuntime,
  { token, password }: z.output<typeof passwordReset>,
): Promise<{ userId: string }> {
  await findEmailLink({ db, clock }, 'reset', token)
  const passwordHash = await hashPassword(password)
  return db.transaction(async (tx) => {
    const now = new Date(clock.now())
    const { userId, email } = await useEmailLink({ db: tx, clock }, 'reset', token)
    const before = await findUser(tx, userId)
    await tx.update(users).set({ passwordHash, emailVerifiedAt: now }).where(eq(users.id, userId))
    const proves = mustVerify(config) && !before?.emailVerifiedAt
    const things = proves ? await turnOutStrangers({ db: tx, clock }, userId) : []
    await dropResetLinks(tx, userId)
    await signOutEverywhere({ db: tx, clock }, userId)
    await enqueueMail({ queue, vault }, tx, {
      kind: 'mail',
      mail: passwordChangedMail(email, config.baseUrl),
    })
    if (things.length > 0) {
      const mail = turnedOffMail(email, things, config.baseUrl)
      await enqueueMail({ queue, vault }, tx, { kind: 'mail', mail })
    }
    return { userId }
  })
}
