import { and, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '#drizzle/schema/index.ts'
import { invalidRequest } from '../../platform/kernel/errors.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Session } from '../sessions/read-session.ts'
import { signOutEverywhere } from '../sessions/sessions.ts'
import { revokeKeys } from './account-keys.ts'
import { assertOwner } from './assert-owner.ts'
import { dropResetLinks } from './email-link.ts'
import { passwordChangedMail } from './mails.ts'
import { hashPassword } from './password.ts'
import { newPasswordField } from './users.ts'

export const passwordChange = z.strictObject({
  current: z.string().max(1000),
  password: newPasswordField,
  /** Whoever knew the password may have made keys. */
  revokeKeys: z.boolean().optional(),
})

/** Every other session ends. Somebody who only signed in by a provider gives no present password: they must have just done so. */
export async function changePassword(
  runtime: MailingRuntime,
  session: Session,
  { current, password, revokeKeys: alsoKeys }: z.output<typeof passwordChange>,
): Promise<void> {
  const { db, clock, config } = runtime
  const fault = { field: 'current', message: 'is not your present password' }
  const proven = await assertOwner(runtime, session, current, fault)
  const passwordHash = await hashPassword(password)
  await db.transaction(async (tx) => {
    const present = proven === null ? isNull(users.passwordHash) : eq(users.passwordHash, proven)
    const changed = await tx
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, session.userId), present))
      .returning({ id: users.id })
    // Somebody else reset it since: theirs stays.
    if (changed.length === 0) throw invalidRequest([fault])
    await dropResetLinks(tx, session.userId)
    await signOutEverywhere({ db: tx, clock }, session.userId, { except: session.id })
    await recordAudit({ db: tx, clock }, session.actor, { action: 'password.changed' })
    if (alsoKeys) await revokeKeys({ db: tx, clock }, session.actor, { madeBy: session.userId })
    const mail = passwordChangedMail(session.email, config.baseUrl)
    await enqueueMail(runtime, tx, { kind: 'mail', mail })
  })
}
