import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { listKeptMails } from '../../dashboard/kept-mails.ts'
import { hours, minutes } from '../../platform/kernel/clock.ts'
import { runRequest } from '../../platform/kernel/request-context.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { cancelUploadsOfPipe } from '../../uploads/endings/end-upload.ts'
import { listAudit } from '../audit/list-audit.ts'
import { recordAudit } from '../audit/record-audit.ts'
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
import { signUp } from './sign-up.ts'
import { requestVerification, verifyEmail } from './verify-email.ts'

const PASSWORD = 'correct horse battery'
const VISITOR = { userAgent: 'Test', address: '192.0.2.1' }
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-accounts-'))
afterAll(() => rmSync(dataDir, { recursive: true }))
let people = 0
const newEmail = () => `person-${++people}@example.com`
let addresses = 0
const newAddress = () => `198.51.100.${++addresses}`

describeWithDatabase('the audit log', (database) => {
  it("records the client's address for requested changes, but none for changes made by Sluice itself", async () => {
    const runtime = testRuntime(database())
    const { actor } = await createTestWorkspace(runtime)
    const record = (action: string) => recordAudit(runtime, actor, { action })
    await runRequest({ id: 'r', traceparent: undefined, client: '9.9.9.9', notes: {} }, () => record('asked'))
    await record('by itself')
    const { data } = await listAudit(runtime, actor, { limit: 100 })
    const addresses = Object.fromEntries(data.map((line) => [line.action, line.actor.address]))
    expect(addresses).toMatchObject({ asked: '9.9.9.9', 'by itself': null })
  })
})

describeWithDatabase('accounts', (database) => {
  let open: TestRuntime
  let mailing: TestRuntime
  beforeEach(() => {
    open = testRuntime(database(), { DATA_DIR: dataDir })
    mailing = testRuntime(database(), { DATA_DIR: dataDir, SMTP_URL: 'smtp://mail.example.com' })
  })
  const mails = (runtime: TestRuntime) =>
    runtime.jobs.map(({ data }) => openMailJob(runtime, data as { sealed: string }))
  const linkOf = (text: string) => text.match(/#(\S+)/)![1]!

  async function signUpOpen(email = newEmail()): Promise<{ email: string; userId: string }> {
    const outcome = await signUp(open, { email, password: PASSWORD }, newAddress())
    if (outcome.outcome !== 'signed-up') throw new Error(outcome.outcome)
    return { email, userId: outcome.userId }
  }

  /** The emails that a recipient would have received. */
  const keptFor = (email: string) =>
    listKeptMails(open, { email, workspace: { id: 'demo', demo: true }, actor: { role: 'owner' } })

  /** The link in the latest password reset email. */
  async function resetLink(email: string): Promise<string> {
    open.jobs.length = 0
    open.clock.advance(1)
    await requestPasswordReset(open, { email }, newAddress())
    await workOnMail(open, open.jobs[0]!.data as { sealed: string })
    const mail = (await keptFor(email)).find(
      ({ to, subject }) => to === email && subject === 'Set a new password',
    )!
    return linkOf(mail.text)
  }

  describe('sign-up and sign-in', () => {
    it('creates an account with a workspace, and recognizes it in any letter case', async () => {
      const { email, userId } = await signUpOpen()
      const again = await signIn(open, { email: email.toUpperCase(), password: PASSWORD }, newAddress())
      expect(again).toMatchObject({ userId })
      const { id } = await createSession(open, userId, VISITOR)
      expect(await readSession(open, id)).toMatchObject({
        email,
        emailVerified: false,
        workspace: { demo: false },
      })
    })

    it('gives the same response for a wrong password and a missing account', async () => {
      const { email } = await signUpOpen()
      const failures = await Promise.all(
        [
          { email, password: 'wrong' },
          { email: newEmail(), password: PASSWORD },
          { email: 'a\0b', password: '' },
        ].map((given) =>
          signIn(open, given, newAddress()).catch((error) => ({ code: error.code, message: error.message })),
        ),
      )
      expect(new Set(failures.map((failure) => JSON.stringify(failure))).size).toBe(1)
      expect(failures[0]).toMatchObject({ code: 'sign_in_failed' })
    })

    it('gives the same response for a new address and an existing account, if email is delivered', async () => {
      const { email } = await signUpOpen()
      const input = { password: PASSWORD }
      expect(await signUp(mailing, { ...input, email }, newAddress())).toEqual({ outcome: 'check-mail' })
      expect(await signUp(mailing, { ...input, email: newEmail() }, newAddress())).toEqual({
        outcome: 'check-mail',
      })
      expect(mails(mailing)).toMatchObject([
        { mail: { to: email, subject: 'You already have an account' } },
        { mail: { subject: 'Verify your email address' } },
      ])
    })

    it('lets nobody sign in before the address is verified, if email is delivered', async () => {
      const given = { email: newEmail(), password: PASSWORD }
      await signUp(mailing, given, newAddress())
      await expect(signIn(mailing, given, newAddress())).rejects.toMatchObject({ code: 'sign_in_failed' })
      const [job] = mails(mailing)
      const token = linkOf(job!.kind === 'mail' ? job!.mail.text : '')
      const proof = { token, password: PASSWORD, userId: undefined }
      expect(await verifyEmail(mailing, proof)).toEqual({ email: given.email })
      await expect(verifyEmail(mailing, proof)).rejects.toMatchObject({ code: 'link_invalid' })
      await signIn(mailing, given, newAddress())
    })

    it("does not let a stranger into an account created with someone's address, whatever the owner does with the email", async () => {
      const stranger = { email: newEmail(), password: 'the password of a stranger' }
      await signUp(mailing, stranger, newAddress())
      const [job] = mails(mailing)
      const token = linkOf(job!.kind === 'mail' ? job!.mail.text : '')
      for (const password of ['', 'a password of mine'])
        await expect(verifyEmail(mailing, { token, password, userId: undefined })).rejects.toMatchObject({
          fields: [{ field: 'password' }],
        })
      await expect(signIn(mailing, stranger, newAddress())).rejects.toMatchObject({ code: 'sign_in_failed' })
      const mine = { providerAccountId: stranger.email, email: stranger.email, emailVerified: true }
      const { userId } = await signInWithProvider(mailing, { provider: 'google', ...mine })
      await createSession(mailing, userId, VISITOR)
      await expect(signIn(mailing, stranger, newAddress())).rejects.toMatchObject({ code: 'sign_in_failed' })
      const later = verifyEmail(mailing, { token, password: stranger.password, userId: undefined })
      await expect(later).rejects.toMatchObject({ code: 'link_invalid' })
    })

    it('limits password guesses on a verification link', async () => {
      await signUp(mailing, { email: newEmail(), password: PASSWORD }, newAddress())
      const [job] = mails(mailing)
      const token = linkOf(job!.kind === 'mail' ? job!.mail.text : '')
      const guess = () => verifyEmail(mailing, { token, password: 'x', userId: undefined })
      for (let n = 0; n < 10; n++) await expect(guess()).rejects.toMatchObject({ code: 'invalid_request' })
      await expect(guess()).rejects.toMatchObject({ code: 'rate_limited' })
    })

    it('lets only the creator verify an account without a password', async () => {
      const email = newEmail()
      const profile = { provider: 'github', providerAccountId: email, email, emailVerified: false } as const
      const { userId } = await signInWithProvider(mailing, profile)
      await requestVerification(mailing, userId)
      const [job] = mails(mailing)
      const token = linkOf(job!.kind === 'mail' ? job!.mail.text : '')
      const open = (as: string | undefined) => verifyEmail(mailing, { token, password: '', userId: as })
      await expect(open(undefined)).rejects.toMatchObject({ code: 'forbidden' })
      expect(await open(userId)).toEqual({ email })
    })

    it('rejects sign-ups if SIGN_UP is closed', async () => {
      const closed = testRuntime(database(), { SIGN_UP: 'closed' })
      const asked = signUp(closed, { email: newEmail(), password: PASSWORD }, newAddress())
      await expect(asked).rejects.toMatchObject({ code: 'forbidden' })
    })

    it('limits attempts per account and address, whether the account exists or not', async () => {
      const [nobody, address] = [{ email: newEmail(), password: 'x' }, newAddress()]
      for (let n = 0; n < 10; n++) {
        await expect(signIn(open, nobody, address)).rejects.toMatchObject({ code: 'sign_in_failed' })
      }
      await expect(signIn(open, nobody, address)).rejects.toMatchObject({ code: 'rate_limited' })
      await expect(signIn(open, nobody, newAddress())).rejects.toMatchObject({ code: 'sign_in_failed' })
      open.clock.advance(60_000)
      await expect(signIn(open, nobody, address)).rejects.toMatchObject({ code: 'sign_in_failed' })
    })

    it('limits attempts per account across all addresses, but still lets the owner in with a password reset', async () => {
      const { email, userId } = await signUpOpen()
      for (let n = 0; n < 100; n++) {
        const guess = signIn(open, { email, password: 'x' }, newAddress())
        await expect(guess).rejects.toMatchObject({ code: 'sign_in_failed' })
      }
      const right = signIn(open, { email, password: PASSWORD }, newAddress())
      await expect(right).rejects.toMatchObject({ code: 'rate_limited' })
      const reset = { token: await resetLink(email), password: 'a seventh password' }
      expect(await resetPassword(open, reset)).toEqual({ userId })
    })

    it('limits emails to one mailbox, wherever the requests come from', async () => {
      const given = { email: newEmail(), password: PASSWORD }
      for (let n = 0; n < 3; n++) await signUp(mailing, given, newAddress())
      await expect(signUp(mailing, given, newAddress())).rejects.toMatchObject({ code: 'rate_limited' })
      expect(mailing.jobs).toHaveLength(3)
    })

    it('counts an entire IPv6 network as one address', async () => {
      const ask = (n: number) => requestPasswordReset(open, { email: newEmail() }, `2001:db8:1:2::${n}`)
      for (let n = 1; n <= 10; n++) await ask(n)
      await expect(ask(11)).rejects.toMatchObject({ code: 'rate_limited' })
    })

    it('counts an entire IPv6 site as four networks', async () => {
      const ask = (n: number) =>
        requestPasswordReset(open, { email: newEmail() }, `2001:db8:2:${n.toString(16)}::1`)
      for (let n = 1; n <= 40; n++) await ask(n)
      await expect(ask(41)).rejects.toMatchObject({ code: 'rate_limited' })
    })

    it('limits attempts per address across all accounts', async () => {
      const address = newAddress()
      const tries = Array.from({ length: 21 }, () =>
        signIn(open, { email: newEmail(), password: 'x' }, address),
      )
      const codes = (await Promise.allSettled(tries)).map(
        (tried) => tried.status === 'rejected' && tried.reason.code,
      )
      expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(1)
    })
  })

  describe('sign-in with a provider', () => {
    const google = (email: string, emailVerified: boolean) => ({
      provider: 'google' as const,
      providerAccountId: email,
      email,
      emailVerified,
    })

    it('creates an account, and finds it at the next sign-in', async () => {
      const profile = google(newEmail(), true)
      const first = await signInWithProvider(open, profile)
      expect(await signInWithProvider(open, { ...profile, email: newEmail() })).toEqual(first)
    })

    it.each([
      ['the provider', false, true],
      ['the account', true, false],
    ])(
      'does not sign in to an account whose address has not been verified by %s',
      async (_, theirs, ours) => {
        const { email, userId } = await signUpOpen()
        const job = mails(open)[0]!
        const token = linkOf(job.kind === 'mail' ? job.mail.text : '')
        if (ours) await verifyEmail(open, { token, password: PASSWORD, userId })
        await createSession(open, userId, VISITOR)
        await expect(signInWithProvider(open, google(email, theirs))).rejects.toMatchObject({
          code: 'forbidden',
        })
      },
    )
  })

  describe('sessions and passwords', () => {
    it('sessions end immediately when revoked, and automatically after 30 days', async () => {
      const { userId } = await signUpOpen()
      const [a, b] = [await createSession(open, userId, VISITOR), await createSession(open, userId, VISITOR)]
      const session = (await readSession(open, a.id))!
      expect(await listSessions(open, session)).toHaveLength(2)
      await revokeSession(open, session, b.id)
      expect(await readSession(open, b.id)).toBeUndefined()
      open.clock.advance(hours(24 * 30))
      expect(await readSession(open, a.id)).toBeUndefined()
      const stranger = await signUpOpen()
      await expect(revokeSession(open, stranger, a.id)).rejects.toMatchObject({ code: 'not_found' })
    })

    it('password change: requires the current password, and ends every other session', async () => {
      const { email, userId } = await signUpOpen()
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
      const { userId } = await signUpOpen()
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
      const { email, userId } = await signUpOpen()
      const session = await createSession(open, userId, VISITOR)
      open.jobs.length = 0
      await requestPasswordReset(open, { email }, newAddress())
      await requestPasswordReset(open, { email: newEmail() }, newAddress())
      expect(open.jobs).toHaveLength(2)
      for (const { data } of open.jobs) await workOnMail(open, data as { sealed: string })
      const kept = await keptFor(email)
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
      const { email } = await signUpOpen()
      const [older, newer] = [await resetLink(email), await resetLink(email)]
      await resetPassword(open, { token: newer, password: 'a fifth password' })
      const again = resetPassword(open, { token: older, password: 'a sixth password' })
      await expect(again).rejects.toMatchObject({ code: 'link_invalid' })
    })

    it('reset: does not hash a password without a valid link', async () => {
      const { email } = await signUpOpen()
      const token = await resetLink(email)
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
      await resetPassword(mailing, { token: await resetLink(email), password: 'a fifth password' })
      await expect(signInWithProvider(mailing, profile)).rejects.toMatchObject({ code: 'forbidden' })
      await expect(authenticateAccountKey(mailing, key)).rejects.toMatchObject({
        code: 'account_key_invalid',
      })
    })

    it('reset: a link is valid for an hour', async () => {
      const { email } = await signUpOpen()
      open.jobs.length = 0
      await requestPasswordReset(open, { email }, newAddress())
      await workOnMail(open, open.jobs[0]!.data as { sealed: string })
      const mail = (await keptFor(email)).find(
        ({ to, subject }) => to === email && /new password/.test(subject),
      )!
      open.clock.advance(hours(1))
      const reset = resetPassword(open, { token: linkOf(mail.text), password: 'a fourth password' })
      await expect(reset).rejects.toMatchObject({ code: 'link_invalid' })
    })
  })
})
