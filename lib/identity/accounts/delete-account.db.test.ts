import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { fileDestinations, files, users, workspaces } from '#drizzle/schema/index.ts'
import { blocked, describeWithDatabase, holdTransaction } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { addFile } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { type Mail, openMailJob } from '../../platform/mail/mail.ts'
import { cancelUploadsOfPipe } from '../../recovery/cancel-uploads.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { tokenInput } from '../../workspace/tokens/token.ts'
import { readSession } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import { removeLeftWorkspaces } from '../workspaces/delete-workspace.ts'
import { acceptInvitation, invite } from '../workspaces/invitations.ts'
import { listMembers } from '../workspaces/members.ts'
import { authenticateAccountKey } from './authenticate-account-key.ts'
import { deleteAccount } from './delete-account.ts'
import { hashPassword } from './password.ts'

describeWithDatabase('deleting an account', (database) => {
  it('requires its email and password, ends all access immediately, and finally leaves no rows', async () => {
    const runtime = testRuntime(database())
    const cancelUploads = cancelUploadsOfPipe(runtime)
    const { db } = runtime
    const mine = await createTestWorkspace(runtime, await hashPassword('my password'))
    const other = await createTestWorkspace(runtime)
    const { id } = await createSession(runtime, mine.userId, { userAgent: null, address: null })
    const session = (await readSession(runtime, id))!
    const place = { workspaceId: mine.workspaceId, pipeId: mine.pipe.id }
    const fileId = await addFile(db, place, { status: 'uploading' })
    const parts = { bucket: 'media', key: 'k', multipartId: 'm', abortPending: true }
    await db.insert(fileDestinations).values({ fileId, dataStoreId: mine.dataStore.id, ...parts })

    const asked = { email: mine.email, password: 'my password' }
    for (const [wrong, field] of [
      [{ ...asked, email: other.email }, 'email'],
      [{ ...asked, password: '' }, 'password'],
    ] as const) {
      await expect(deleteAccount(runtime, session, wrong, cancelUploads)).rejects.toMatchObject({
        fields: [{ field }],
      })
    }
    await deleteAccount(runtime, session, asked, cancelUploads)

    expect(await readSession(runtime, id)).toBeUndefined()
    await expect(authenticateAccountKey(runtime, mine.accountKey.key)).rejects.toMatchObject({
      code: 'account_key_invalid',
    })
    const token = issueToken(runtime, mine.sender.token, parseInput(tokenInput, { pipeId: mine.pipe.id }))
    await expect(token).rejects.toMatchObject({ code: 'token_revoked' })
    expect(await db.select().from(users).where(eq(users.id, mine.userId))).toEqual([])
    const [canceled] = await db.select().from(files).where(eq(files.id, fileId))
    expect(canceled!.status).toBe('canceled')

    const left = () => db.select({ id: workspaces.id }).from(workspaces)
    expect(await removeLeftWorkspaces(db)).toBe(0)
    await db.update(fileDestinations).set({ abortPending: false })
    expect(await removeLeftWorkspaces(db)).toBe(1)
    expect(await left()).toEqual([{ id: other.workspaceId }])
    expect(await removeLeftWorkspaces(db)).toBe(0)
  })

  it('ends repairs, and keeps their rows until their parts are cleared from the bucket', async () => {
    const runtime = testRuntime(database())
    const { db } = runtime
    const mine = await createTestWorkspace(runtime, await hashPassword('my password'))
    const { id } = await createSession(runtime, mine.userId, { userAgent: null, address: null })
    const place = { workspaceId: mine.workspaceId, pipeId: mine.pipe.id }
    const fileId = await addFile(db, place, { status: 'partially_transferred' })
    const repairing = { multipartId: 'm', repairAt: new Date(runtime.clock.now()), repairClaim: 'c' }
    await db
      .insert(fileDestinations)
      .values({ fileId, dataStoreId: mine.dataStore.id, bucket: 'media', key: 'k', ...repairing })
    const asked = { email: mine.email, password: 'my password' }
    await deleteAccount(runtime, (await readSession(runtime, id))!, asked, cancelUploadsOfPipe(runtime))
    const [left] = await db.select().from(fileDestinations).where(eq(fileDestinations.fileId, fileId))
    expect(left).toMatchObject({ repairAt: null, repairClaim: null, multipartId: 'm', abortPending: true })
    expect(await removeLeftWorkspaces(db)).toBe(0)
    await db.update(fileDestinations).set({ abortPending: false })
    expect(await removeLeftWorkspaces(db)).toBe(1)
  })

  it('does not close a workspace that someone joins at the same time', async () => {
    const runtime = testRuntime(database())
    const [mine, guest] = [
      await createTestWorkspace(runtime, await hashPassword('my password')),
      await createTestWorkspace(runtime),
    ]
    const { id } = await createSession(runtime, mine.userId, { userAgent: null, address: null })
    const session = (await readSession(runtime, id))!
    runtime.jobs.length = 0
    await invite(runtime, mine.actor, { email: guest.email, role: 'developer' })
    const { mail } = openMailJob(runtime, runtime.jobs[0]!.data as { sealed: string }) as { mail: Mail }
    const token = mail.text.match(/#(\S+)/)![1]!
    const commit = await holdTransaction(runtime, (tx) =>
      acceptInvitation({ ...runtime, db: tx }, token, { id: guest.userId, email: guest.email }),
    )
    const deleting = deleteAccount(
      runtime,
      session,
      { email: mine.email, password: 'my password' },
      cancelUploadsOfPipe(runtime),
    )
    await blocked(runtime)
    // The new member is not an owner.
    const refused = expect(deleting).rejects.toMatchObject({ code: 'conflict' })
    await Promise.all([commit(), refused])
    expect((await listMembers(runtime, mine.actor, { limit: 100 })).data).toHaveLength(2)
  })

  it('limits password attempts in a stolen session', async () => {
    const runtime = testRuntime(database())
    const cancelUploads = cancelUploadsOfPipe(runtime)
    const cheap = `scrypt$4$8$1$AAAA$${'A'.repeat(43)}`
    const { userId, email } = await createTestWorkspace(runtime, cheap)
    const { id } = await createSession(runtime, userId, { userAgent: null, address: null })
    const session = (await readSession(runtime, id))!
    const guess = () => deleteAccount(runtime, session, { email, password: 'a guess' }, cancelUploads)
    for (let n = 0; n < 10; n++) await expect(guess()).rejects.toMatchObject({ code: 'invalid_request' })
    await expect(guess()).rejects.toMatchObject({ code: 'rate_limited' })
  })
})
