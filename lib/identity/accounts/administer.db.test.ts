import { eq, sql } from 'drizzle-orm'
import { TOTP } from 'otpauth'
import { expect, it } from 'vitest'
import { auditLog, usageMonths } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { rows } from '../../platform/db/database.ts'
import { reportUsage } from '../../workspace/usage/report-usage.ts'
import { reserved } from '../../workspace/usage/reserve.ts'
import { readSession } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import { createAccountKey } from './account-keys.ts'
import {
  disableUser,
  dropSecondFactor,
  enableUser,
  limitWorkspace,
  listUsers,
  resetUser,
} from './administer.ts'
import { authenticateAccountKey } from './authenticate-account-key.ts'
import { hashPassword } from './password.ts'
import { signInWithProvider } from './providers.ts'
import { beginSecondFactor, enableSecondFactor } from './second-factor.ts'
import { signIn } from './sign-in.ts'
import { createAccount, insertUser } from './users.ts'

const PASSWORD = 'a few words in a row'

describeWithDatabase('an operator', (database) => {
  const made = async (email: string) => {
    const runtime = testRuntime(database(), { FREE_TIER_BYTES: '1000' })
    const passwordHash = await hashPassword(PASSWORD)
    const account = await createAccount(runtime, { email, passwordHash, emailVerified: true })
    const actor = { ...account, kind: 'user', id: account.userId, label: email, role: 'owner' } as const
    const enter = (password = PASSWORD) => signIn(runtime, { email, password }, '192.0.2.1')
    return { runtime, email, actor, enter, ...account }
  }

  it('can lock a user out of every way to sign in, and let them in again', async () => {
    const { runtime, email, actor, enter, userId } = await made('out@example.com')
    const profile = { provider: 'github', providerAccountId: '7', email, emailVerified: true } as const
    await signInWithProvider(runtime, profile)
    const { key } = await createAccountKey(runtime, actor, { name: 'Key' })
    const { id: session } = await createSession(runtime, userId, { userAgent: null, address: '192.0.2.1' })
    expect(await readSession(runtime, session)).toMatchObject({ userId })
    await disableUser(runtime, 'OUT@example.com')
    expect(await readSession(runtime, session)).toBeUndefined()
    await expect(enter()).rejects.toMatchObject({ code: 'sign_in_failed' })
    await expect(signInWithProvider(runtime, profile)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(authenticateAccountKey(runtime, key)).rejects.toMatchObject({ code: 'account_key_invalid' })
    expect(await listUsers(runtime)).toMatchObject([{ email, disabledAt: expect.any(String) }])
    await enableUser(runtime, email)
    expect(await enter()).toMatchObject({ userId })
    const written = await runtime.db
      .select({ action: auditLog.action })
      .from(auditLog)
      .where(eq(auditLog.actorLabel, 'sluice-server account'))
    expect(written.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['user.disabled', 'account_key.revoked', 'user.enabled']),
    )
  })

  it('can set a new password for a user, which ends their sessions', async () => {
    const { runtime, email, enter, userId } = await made('reset@example.com')
    const { id: session } = await createSession(runtime, userId, { userAgent: null, address: '192.0.2.1' })
    const { password } = await resetUser(runtime, email)
    expect(await readSession(runtime, session)).toBeUndefined()
    await expect(enter()).rejects.toMatchObject({ code: 'sign_in_failed' })
    expect(await enter(password)).toMatchObject({ userId })
  })

  it('can remove a lost second factor, which ends the sessions', async () => {
    const { runtime, email, userId } = await made('lost@example.com')
    const { id: session } = await createSession(runtime, userId, { userAgent: null, address: '192.0.2.1' })
    const person = (await readSession(runtime, session))!
    const { secret } = await beginSecondFactor(runtime, person)
    await enableSecondFactor(
      runtime,
      person,
      new TOTP({ secret }).generate({ timestamp: runtime.clock.now() }),
    )
    await dropSecondFactor(runtime, email)
    expect(await readSession(runtime, session)).toBeUndefined()
    const { id: next } = await createSession(runtime, userId, { userAgent: null, address: '192.0.2.1' })
    expect(await readSession(runtime, next)).toMatchObject({ hasSecondFactor: false })
  })

  it('can find and disable a user without a workspace', async () => {
    const { runtime } = await made('with@example.com')
    const account = { email: 'without@example.com', passwordHash: null, emailVerified: true }
    await insertUser(runtime, account)
    await disableUser(runtime, account.email)
    expect(await listUsers(runtime)).toContainEqual(
      expect.objectContaining({ email: account.email, workspaceId: null, disabledAt: expect.any(String) }),
    )
    await expect(limitWorkspace(runtime, account.email, 1)).rejects.toThrow('does not belong to a workspace')
  })

  it("can set a workspace's own limit, which applies to reservations and usage", async () => {
    const { runtime, email, actor, workspaceId } = await made('more@example.com')
    const reserves = async (bytes: number) => {
      const quota = { limitBytes: runtime.config.freeTierBytes }
      const step = reserved(workspaceId, bytes, quota, runtime.clock.now())
      return (await rows(runtime.db, sql`with ${step} select * from reserved`)).length === 1
    }
    const limit = async () => (await reportUsage(runtime, actor, {})).limitBytes
    expect([await reserves(1001), await limit()]).toEqual([false, 1000])
    await limitWorkspace(runtime, email, 5000)
    expect([await reserves(4000), await reserves(1001), await limit()]).toEqual([true, false, 5000])
    await limitWorkspace(runtime, email, 0)
    expect([await reserves(10 ** 12), await limit()]).toEqual([true, null])
    await limitWorkspace(runtime, email, null)
    expect([await reserves(1), await limit()]).toEqual([false, 1000])
    expect(await runtime.db.select().from(usageMonths)).toHaveLength(1)
  })

  it('gets an error for an email address without an account', async () => {
    const runtime = testRuntime(database())
    await expect(disableUser(runtime, 'nobody@example.com')).rejects.toThrow(
      /no account for nobody@example.com/,
    )
  })
})
