import { beforeEach, expect, it, vi } from 'vitest'
import {
  accountServers,
  keptFor,
  linkOf,
  newAddress,
  newEmail,
  PASSWORD,
  resetLink,
  signUpOpen,
  VISITOR,
} from '../../../test/support/accounts.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import type { TestRuntime } from '../../../test/support/runtime.ts'
import { hours, minutes } from '../../platform/kernel/clock.ts'
import { cancelUploadsOfPipe } from '../../recovery/cancel-uploads.ts'
import { readSession } from '../sessions/read-session.ts'
import { createSession, listSessions, revokeSession } from '../sessions/sessions.ts'
import { createAccountKey } from './account-keys.ts'
import { authenticateAccountKey } from './authenticate-account-key.ts'
import { changePassword, requestPasswordReset, resetPassword } from './change-password.ts'
import { deleteAccount } from './delete-account.ts'
import { workOnMail } from './mail-worker.ts'
import * as passwords from './password.ts'
import { signInWithProvider } from './providers.ts'
import { signIn } from './sign-in.ts'

describeWithDatabase('sessions and passwords', (database) => {
  let open: TestRuntime
  let mailing: TestRuntime
  const servers = accountServers(database)
  beforeEach(() => {
    ;({ open, mailing } = servers())
  })

  it('sessions end immediately when revoked, and automatically after 30 days', async () => {
    const { userId } = await signUpOpen(open)
    const [a, b] = [await createSession(open, userId, VISITOR), await createSession(open, userId, VISITOR)]
    const session = (await readSession(open, a.id))!
    expect(await listSessions(open, session)).toHaveLength(2)
    await revokeSession(open, session, b.id)
    expect(await readSession(open, b.id)).toBeUndefined()
    open.clock.advance(hours(24 * 30))
    expect(await readSession(open, a.id)).toBeUndefined()
    const stranger = await signUpOpen(open)
    await expect(revokeSession(open, stranger, a.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('password change: requires the current password, and ends every other session', async () => {
    const { email, userId } = await signUpOpen(open)
    const [here, there] = [
      await createSession(open, userId, VISITOR),
      await createSession(open, userId, VISITOR),
    ]
    const session = (await readSession(open, here.id))!
    const wrong = changePassword(open, session, { current: 'no', password: 'another password' })
    await expect(wrong).rejects.toMatchObject({ fields: [{ field: 'current' }] })
    await changePassword(open, session, { current: PASSWORD, password: 'another password' })
    expect(await readSession(open, here.id)).toBeDefined()
    expect(await readSession(open, there.id)).toBeUndefined()
    await signIn(open, { email, password: 'another password' }, newAddress())
  })

  it('password change: revokes the account keys on request', async () => {
    const { userId } = await signUpOpen(open)
    const session = (await readSession(open, (await createSession(open, userId, VISITOR)).id))!
    const { key } = await createAccountKey(open, session.actor, { name: 'Created by someone who knew it' })
    const change = { current: PASSWORD, password: 'an eighth password' }
    await changePassword(open, session, change)
    await authenticateAccountKey(open, key)
    const back = { current: change.password, password: PASSWORD, revokeKeys: true }
    await changePassword(open, session, back)
    await expect(authenticateAccountKey(open, key)).rejects.toMatchObject({ code: 'account_key_invalid' })
  })

  it('password change: users without a password can set one only after a recent sign-in with their provider', async () => {
    const email = newEmail()
    const profile = { provider: 'google', providerAccountId: email, email, emailVerified: true } as const
    const { userId } = await signInWithProvider(open, profile)
    const old = (await readSession(open, (await createSession(open, userId, VISITOR)).id))!
    open.clock.advance(minutes(10))
    const given = { current: '', password: 'a first password' }
    await expect(changePassword(open, old, given)).rejects.toMatchObject({ code: 'forbidden' })
    const deletion = deleteAccount(open, old, { email, password: '' }, cancelUploadsOfPipe(open))
    await expect(deletion).rejects.toMatchObject({ code: 'forbidden' })
    const fresh = (await readSession(open, (await createSession(open, userId, VISITOR)).id))!
    await changePassword(open, fresh, given)
    await signIn(open, { email, password: 'a first password' }, newAddress())
  })

  it('reset: sends one email to the owner with a one-time link, and ends every session', async () => {
    const { email, userId } = await signUpOpen(open)
    const session = await createSession(open, userId, VISITOR)
    open.jobs.length = 0
    await requestPasswordReset(open, { email }, newAddress())
    await requestPasswordReset(open, { email: newEmail() }, newAddress())
    expect(open.jobs).toHaveLength(2)
    for (const { data } of open.jobs) await workOnMail(open, data as { sealed: string })
    const kept = await keptFor(open, email)
    expect(kept).toHaveLength(1)
    const mail = kept.find(({ to, subject }) => to === email && subject === 'Set a new password')!
    expect(mail.text).toContain('http://localhost:3000/reset-password#')
    const reset = { token: linkOf(mail.text), password: 'a third password' }
    await resetPassword(open, reset)
    await expect(resetPassword(open, reset)).rejects.toMatchObject({ code: 'link_invalid' })
    expect(await readSession(open, session.id)).toBeUndefined()
    await signIn(open, { email, password: 'a third password' }, newAddress())
  })

  it('reset: invalidates every other requested link', async () => {
    const { email } = await signUpOpen(open)
    const [older, newer] = [await resetLink(open, email), await resetLink(open, email)]
    await resetPassword(open, { token: newer, password: 'a fifth password' })
    const again = resetPassword(open, { token: older, password: 'a sixth password' })
    await expect(again).rejects.toMatchObject({ code: 'link_invalid' })
  })

  it('reset: does not hash a password without a valid link', async () => {
    const { email } = await signUpOpen(open)
    const token = await resetLink(open, email)
    const hashPassword = vi.spyOn(passwords, 'hashPassword')
    const guessed = resetPassword(open, { token: 'guessed', password: 'a fifth password' })
    await expect(guessed).rejects.toMatchObject({ code: 'link_invalid' })
    expect(hashPassword).not.toHaveBeenCalled()
    await resetPassword(open, { token, password: 'a fifth password' })
    expect(hashPassword).toHaveBeenCalledOnce()
  })

  it("reset: removes a provider's user who signed in before the address was verified", async () => {
    const email = newEmail()
    const profile = { provider: 'github', providerAccountId: email, email, emailVerified: false } as const
    const { userId } = await signInWithProvider(mailing, profile)
    const session = (await readSession(open, (await createSession(open, userId, VISITOR)).id))!
    const { key } = await createAccountKey(open, session.actor, { name: 'Kept for later' })
    await resetPassword(mailing, { token: await resetLink(open, email), password: 'a fifth password' })
    await expect(signInWithProvider(mailing, profile)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(authenticateAccountKey(mailing, key)).rejects.toMatchObject({
      code: 'account_key_invalid',
    })
  })

  it('reset: a link is valid for an hour', async () => {
    const { email } = await signUpOpen(open)
    open.jobs.length = 0
    await requestPasswordReset(open, { email }, newAddress())
    await workOnMail(open, open.jobs[0]!.data as { sealed: string })
    const mail = (await keptFor(open, email)).find(
      ({ to, subject }) => to === email && /new password/.test(subject),
    )!
    open.clock.advance(hours(1))
    const reset = resetPassword(open, { token: linkOf(mail.text), password: 'a fourth password' })
    await expect(reset).rejects.toMatchObject({ code: 'link_invalid' })
  })
})
