import { beforeEach, describe, expect, it } from 'vitest'
import {
  accountServers,
  linkOf,
  newAddress,
  newEmail,
  PASSWORD,
  resetLink,
  signUpOpen,
  VISITOR,
} from '../../../test/support/accounts.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { readSession } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import { requestPasswordReset, resetPassword } from './change-password.ts'
import { signInWithProvider } from './providers.ts'
import { signIn } from './sign-in.ts'
import { signUp } from './sign-up.ts'
import { requestVerification, verifyEmail } from './verify-email.ts'

describeWithDatabase('accounts', (database) => {
  let open: TestRuntime
  let mailing: TestRuntime
  const servers = accountServers(database)
  beforeEach(() => {
    ;({ open, mailing } = servers())
  })
  const mails = (runtime: TestRuntime) =>
    runtime.jobs.map(({ data }) => openMailJob(runtime, data as { sealed: string }))

  describe('sign-up and sign-in', () => {
    it('creates an account with a workspace, and recognizes it in any letter case', async () => {
      const { email, userId } = await signUpOpen(open)
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
      const { email } = await signUpOpen(open)
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
      const { email } = await signUpOpen(open)
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
      const { email, userId } = await signUpOpen(open)
      for (let n = 0; n < 100; n++) {
        const guess = signIn(open, { email, password: 'x' }, newAddress())
        await expect(guess).rejects.toMatchObject({ code: 'sign_in_failed' })
      }
      const right = signIn(open, { email, password: PASSWORD }, newAddress())
      await expect(right).rejects.toMatchObject({ code: 'rate_limited' })
      const reset = { token: await resetLink(open, email), password: 'a seventh password' }
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
        const { email, userId } = await signUpOpen(open)
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
})
