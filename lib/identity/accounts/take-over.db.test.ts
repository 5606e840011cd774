import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  auditLog,
  dataStores,
  identities,
  members,
  senders,
  users,
  webhookOutputs,
  workspaces,
} from '#drizzle/schema/index.ts'
import { pruneExpired } from '../../../server/control-sweeps.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { hookInput } from '../../hooks/hook.ts'
import { listHooks, saveHook } from '../../hooks/pipe-hooks.ts'
import { rows } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { saveOutput } from '../../webhooks/outputs/save-output.ts'
import { webhookOutputInput } from '../../webhooks/outputs/webhook-output.ts'
import { createSender } from '../../workspace/senders/create-sender.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { tokenInput } from '../../workspace/tokens/token.ts'
import { readSession } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import { createAccountKey } from './account-keys.ts'
import { authenticateAccountKey } from './authenticate-account-key.ts'
import { changePassword, resetPassword } from './change-password.ts'
import { createEmailLink } from './email-link.ts'
import { hashPassword } from './password.ts'
import { connectProvider, signInWithProvider } from './providers.ts'
import { signIn } from './sign-in.ts'
import { listTurnedOff, switchOn } from './turned-off.ts'

const PASSWORD = 'a password of the stranger'
const VISITOR = { userAgent: 'Test', address: '192.0.2.1' }

describeWithDatabase('an account that its owner takes over from a stranger', (database) => {
  let runtime: TestRuntime
  let stranger: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database(), { SMTP_URL: 'smtp://mail.example.com' })
    stranger = await createTestWorkspace(runtime)
    await runtime.db.update(users).set({ emailVerifiedAt: null }).where(eq(users.id, stranger.userId))
  })
  const owner = () => ({
    provider: 'google' as const,
    providerAccountId: stranger.email,
    email: stranger.email,
    emailVerified: true,
  })
  const knowsAPassword = async () => {
    const passwordHash = await hashPassword(PASSWORD)
    await runtime.db.update(users).set({ passwordHash }).where(eq(users.id, stranger.userId))
    return stranger
  }
  const takeBack = async () => {
    const link = await createEmailLink(runtime, 'reset', { id: stranger.userId, email: stranger.email })
    return resetPassword(runtime, { token: link.split('#')[1]!, password: 'a password of the owner' })
  }
  const addWebhook = () =>
    saveOutput(
      runtime,
      stranger.actor,
      stranger.pipe.id,
      parseInput(webhookOutputInput, { url: 'https://stranger.example.com/' }),
    )
  const addHook = () =>
    saveHook(
      runtime,
      stranger.actor,
      { pipeId: stranger.pipe.id, hook: 'before_create' },
      parseInput(hookInput, { url: 'https://stranger.example.com/' }),
    )
  const isHookOn = async () =>
    (await listHooks(runtime, stranger.actor, stranger.pipe.id)).map(({ enabled }) => enabled)
  const ask = (pipeId: string) =>
    issueToken(runtime, stranger.sender.token, parseInput(tokenInput, { pipeId }))

  const rowsOf = async (table: typeof auditLog) =>
    runtime.db.select().from(table).where(eq(table.workspaceId, stranger.workspaceId))
  const row = async (table: typeof webhookOutputs | typeof dataStores | typeof workspaces) => {
    const column = table === workspaces ? workspaces.id : (table as typeof dataStores).workspaceId
    return (await runtime.db.select().from(table).where(eq(column, stranger.workspaceId)))[0]
  }

  it('is not handed over if the stranger used it, even after their sessions are pruned', async () => {
    await createSession(runtime, stranger.userId, VISITOR)
    runtime.clock.advance(days(38))
    await pruneExpired(runtime.db, runtime.clock.now())
    await expect(signInWithProvider(runtime, owner())).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('is not handed over if a node running the previous version signed the stranger in', async () => {
    await createSession(runtime, stranger.userId, VISITOR)
    await runtime.db.update(users).set({ enteredAt: null }).where(eq(users.id, stranger.userId))
    await expect(signInWithProvider(runtime, owner())).rejects.toMatchObject({ code: 'forbidden' })
    runtime.clock.advance(days(38))
    await pruneExpired(runtime.db, runtime.clock.now())
    await expect(signInWithProvider(runtime, owner())).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('opens no session for a password that was correct before the takeover', async () => {
    const { email } = await knowsAPassword()
    const known = await signIn(testRuntime(database()), { email, password: PASSWORD }, VISITOR.address)
    await takeBack()
    const late = createSession(runtime, known.userId, VISITOR, known)
    await expect(late).rejects.toMatchObject({ code: 'sign_in_failed' })
  })

  it('keeps the owner’s password if the stranger changes it at the same time', async () => {
    const { userId } = await knowsAPassword()
    const session = (await readSession(runtime, (await createSession(runtime, userId, VISITOR)).id))!
    const passwordHash = await hashPassword('a password of the owner')
    let change: Promise<void> | undefined
    await runtime.db.transaction(async (tx) => {
      await tx.update(users).set({ passwordHash }).where(eq(users.id, userId))
      change = changePassword(runtime, session, { current: PASSWORD, password: 'a late password' })
      change.catch(() => {})
      const waiting = sql`select from pg_locks where not granted and locktype in ('transactionid', 'tuple')`
      await expect.poll(async () => (await rows(runtime.db, waiting)).length).toBe(1)
    })
    await expect(change).rejects.toMatchObject({ fields: [{ field: 'current' }] })
    const [kept] = await runtime.db.select().from(users).where(eq(users.id, userId))
    expect(kept!.passwordHash).toBe(passwordHash)
  })

  it('no longer gives the stranger access, and lists each turned-off item for the owner', async () => {
    await addWebhook()
    await addHook()
    await runtime.db.update(workspaces).set({ mutedAlerts: ['mail:output_off'] })
    runtime.jobs.length = 0
    await takeBack()
    await expect(authenticateAccountKey(runtime, stranger.accountKey.key)).rejects.toMatchObject({
      code: 'account_key_invalid',
    })
    await expect(ask(stranger.pipe.id)).rejects.toMatchObject({ code: 'token_revoked' })
    expect(await row(webhookOutputs)).toMatchObject({ enabled: false })
    expect(await isHookOn()).toEqual([false])
    expect(await row(dataStores)).toMatchObject({ turnedOffAt: expect.any(Date) })
    expect(await row(workspaces)).toMatchObject({ mutedAlerts: [] })
    const listed = await listTurnedOff(runtime, stranger.actor)
    expect(listed.map(({ kind, name }) => [kind, name])).toEqual([
      ['account_key', 'Test key'],
      ['data_store', 'Bucket'],
      ['hook', 'Photos'],
      ['sender', 'Backend'],
      ['webhook', 'Photos'],
    ])
    const mails = runtime.jobs.map(({ data }) => openMailJob(runtime, data as { sealed: string }))
    const told = mails.flatMap((job) => (job.kind === 'mail' ? [job.mail] : [])).at(-1)!
    expect(told.to).toBe(stranger.email)
    for (const words of [
      'Account key “Test key”',
      'Sender “Backend”',
      'Webhook for the Pipe “Photos”',
      'Decision hook for the Pipe “Photos”',
      'Data Store “Bucket”',
    ])
      expect(told.text).toContain(words)
    const actions = (await rowsOf(auditLog)).map(({ action }) => action)
    for (const action of [
      'account_key.revoked',
      'sender.revoked',
      'webhook.turned_off',
      'hook.turned_off',
      'data_store.turned_off',
    ])
      expect(actions).toContain(action)
  })

  describe('while a request from the stranger is in progress', () => {
    const letIn = async () => {
      const { id } = await createSession(runtime, stranger.userId, VISITOR)
      return (await readSession(runtime, id))!
    }

    it("rejects later writes from the stranger's session or key", async () => {
      const session = await letIn()
      const key = await authenticateAccountKey(runtime, stranger.accountKey.key)
      await takeBack()
      const [listed] = await listTurnedOff(runtime, stranger.actor)
      const late = { name: 'Late' }
      for (const write of [
        () => createSender(runtime, session.actor, late),
        () => createAccountKey(runtime, session.actor, late),
        () => switchOn(runtime, session.actor, listed!.id),
        () => connectProvider(runtime, session, owner()),
      ])
        await expect(write()).rejects.toMatchObject({ code: 'signed_out' })
      await expect(createSender(runtime, key, late)).rejects.toMatchObject({ code: 'account_key_invalid' })
      expect(await runtime.db.select().from(identities)).toEqual([])
      await createSender(runtime, (await letIn()).actor, { name: 'Of the owner' })
    })

    it('rejects writes from a member whom the stranger added', async () => {
      const guest = await createTestWorkspace(runtime)
      await runtime.db
        .insert(members)
        .values({ workspaceId: stranger.workspaceId, userId: guest.userId, role: 'admin' })
      const opened = await createSession(runtime, guest.userId, VISITOR, {
        workspaceId: stranger.workspaceId,
      })
      const { actor } = (await readSession(runtime, opened.id))!
      expect(actor.workspaceId).toBe(stranger.workspaceId)
      await takeBack()
      await expect(createSender(runtime, actor, { name: 'Late' })).rejects.toMatchObject({
        code: 'signed_out',
      })
    })

    it('waits for writes in progress, and also turns off the items that they create', async () => {
      const { actor } = await letIn()
      let taking: Promise<unknown> | undefined
      await runtime.db.transaction(async (tx) => {
        await createSender({ ...runtime, db: tx }, actor, { name: 'Just in time' })
        taking = takeBack()
        taking.catch(() => {})
        const waiting = sql`select from pg_locks where not granted and locktype = 'advisory'`
        await expect.poll(async () => (await rows(runtime.db, waiting)).length).toBe(1)
      })
      await taking
      const listed = await listTurnedOff(runtime, stranger.actor)
      expect(listed.map(({ name }) => name)).toContain('Just in time')
    })
  })

  it('leaves previously revoked items alone, and lets the owner switch on the other items one by one', async () => {
    const old = await createAccountKey(runtime, stranger.actor, { name: 'Revoked long ago' })
    const revokedAt = new Date(runtime.clock.now() - days(9))
    await runtime.db.execute(
      sql`update account_keys set revoked_at = ${revokedAt.toISOString()}::timestamptz where id = ${old.id}::uuid`,
    )
    await addWebhook()
    await addHook()
    await takeBack()
    for (const { id } of await listTurnedOff(runtime, stranger.actor))
      await switchOn(runtime, stranger.actor, id)
    expect(await listTurnedOff(runtime, stranger.actor)).toEqual([])
    await authenticateAccountKey(runtime, stranger.accountKey.key)
    await ask(stranger.pipe.id)
    expect(await row(webhookOutputs)).toMatchObject({
      enabled: true,
      turnedOffReason: null,
    })
    expect(await isHookOn()).toEqual([true])
    expect(await row(dataStores)).toMatchObject({ turnedOffAt: null })
    await expect(authenticateAccountKey(runtime, old.key)).rejects.toMatchObject({
      code: 'account_key_invalid',
    })
    await expect(switchOn(runtime, stranger.actor, old.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('lets nobody else switch anything on', async () => {
    await takeBack()
    const other = await createTestWorkspace(runtime)
    const [row] = await runtime.db.select().from(senders).where(eq(senders.workspaceId, stranger.workspaceId))
    await expect(switchOn(runtime, other.actor, row!.id)).rejects.toMatchObject({ code: 'not_found' })
  })
})
