import { and, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '#drizzle/schema/index.ts'
import { invalidRequest } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeForAddress, takeFromLimit } from '../../platform/rate-limits.ts'
import type { MailingRuntime, Runtime } from '../../platform/runtime.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Session } from '../sessions/read-session.ts'
import { signOutEverywhere } from '../sessions/sessions.ts'
import { revokeKeys } from './account-keys.ts'
import { assertOwner } from './assert-owner.ts'
import { dropResetLinks, findEmailLink, useEmailLink } from './email-link.ts'
import { passwordChangedMail, turnedOffMail } from './mails.ts'
import { hashPassword } from './password.ts'
import { mustVerify } from './sign-in.ts'
import { turnOutStrangers } from './turned-off.ts'
import { emailField, findUser, newPasswordField } from './users.ts'

export const passwordChange = z.strictObject({
  current: z.string().max(1000),
  password: newPasswordField,
  /** Anyone who knew the old password may have created keys. */
  revokeKeys: z.boolean().optional(),
})

/**
 * Ends every other session. Users who only sign in with a provider have no current password: they must have signed in
 * recently instead.
 */
export async function changePassword(
  runtime: MailingRuntime,
  session: Session,
  { current, password, revokeKeys: alsoKeys }: z.output<typeof passwordChange>,
): Promise<void> {
  const { db, clock, config } = runtime
  const fault = { field: 'current', message: 'is not your current password' }
  const proven = await assertOwner(runtime, session, current, fault)
  const passwordHash = await hashPassword(password)
  await db.transaction(async (tx) => {
    const present = proven === null ? isNull(users.passwordHash) : eq(users.passwordHash, proven)
    const changed = await tx
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, session.userId), present))
      .returning({ id: users.id })
    // The password was changed or reset in the meantime, so the newer one stays.
    if (changed.length === 0) throw invalidRequest([fault])
    await dropResetLinks(tx, session.userId)
    await signOutEverywhere({ db: tx, clock }, session.userId, { except: session.id })
    await recordAudit({ db: tx, clock }, session.actor, { action: 'password.changed' })
    if (alsoKeys) await revokeKeys({ db: tx, clock }, session.actor, { madeBy: session.userId })
    const mail = passwordChangedMail(session.email, config.baseUrl)
    await enqueueMail(runtime, tx, { kind: 'mail', mail })
  })
}

export const passwordResetRequest = z.strictObject({ email: emailField })

const PER_ADDRESS = { burst: 10, refillMs: 60_000 }
const PER_ACCOUNT = { burst: 3, refillMs: 600_000 }

/** Behaves the same whether the account exists or not. */
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
 * The link proves access to the mailbox, so the address counts as verified, and the user gets a session immediately,
 * even if others have used up the sign-in limit. All existing sessions end.
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
