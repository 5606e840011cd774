import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { accountKeys, pipes, workspaces } from '#drizzle/schema/index.ts'
import { blocked, describeWithDatabase, holdTransaction } from '../../../test/support/databases.ts'
import { addMember, mailsOf, rolesIn } from '../../../test/support/people.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { days } from '../../platform/kernel/clock.ts'
import { createAccountKey } from '../accounts/account-keys.ts'
import { authenticateAccountKey } from '../accounts/authenticate-account-key.ts'
import { readSession, readStanding } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import {
  closeDeletedWorkspaces,
  deleteWorkspace,
  removeLeftWorkspaces,
  restoreWorkspace,
} from './delete-workspace.ts'
import { changeRole, listMembers, lockWorkspace, removeMember } from './members.ts'
import { createWorkspace, openWorkspace } from './workspaces.ts'

const ALL = { limit: 100 }
const VISITOR = { userAgent: null, address: null }

describeWithDatabase("a workspace's people", (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
    runtime.jobs.length = 0
  })

  describe('roles', () => {
    it('can be changed by owners, and up to admin by admins', async () => {
      const [admin, developer] = [
        await addMember(runtime, mine, 'admin'),
        await addMember(runtime, mine, 'developer'),
      ]
      await changeRole(runtime, admin, developer.id, 'admin')
      expect((await rolesIn(runtime, mine))[developer.id]).toBe('admin')
      await expect(changeRole(runtime, admin, developer.id, 'owner')).rejects.toMatchObject({
        code: 'forbidden',
      })
      await expect(changeRole(runtime, admin, mine.userId, 'viewer')).rejects.toMatchObject({
        code: 'forbidden',
      })
      await expect(removeMember(runtime, admin, mine.userId)).rejects.toMatchObject({ code: 'forbidden' })
      await changeRole(runtime, mine.actor, developer.id, 'owner')
      expect((await rolesIn(runtime, mine))[developer.id]).toBe('owner')
      expect(mailsOf(runtime).at(-1)).toMatchObject({
        to: developer.label,
        subject: expect.stringContaining('an owner'),
      })
    })

    it('cannot be changed in another workspace, whose members cannot be removed either', async () => {
      const theirs = await createTestWorkspace(runtime)
      for (const userId of [theirs.userId, 'nonsense']) {
        await expect(changeRole(runtime, mine.actor, userId, 'viewer')).rejects.toMatchObject({
          code: 'not_found',
        })
        await expect(removeMember(runtime, mine.actor, userId)).rejects.toMatchObject({ code: 'not_found' })
      }
    })

    it('prevent the last owner from leaving, being removed or being demoted', async () => {
      await addMember(runtime, mine, 'admin')
      const { actor, userId } = mine
      await expect(removeMember(runtime, actor, userId)).rejects.toMatchObject({ code: 'conflict' })
      await expect(changeRole(runtime, actor, userId, 'admin')).rejects.toMatchObject({ code: 'conflict' })
      const other = await addMember(runtime, mine, 'owner')
      await removeMember(runtime, actor, userId)
      expect(
        (await listMembers(runtime, other, ALL)).data.filter(({ role }) => role === 'owner'),
      ).toHaveLength(1)
    })

    it('leave one owner if two owners demote each other at the same time', async () => {
      const other = await addMember(runtime, mine, 'owner')
      const release = await holdTransaction(runtime, (tx) => lockWorkspace(tx, mine.workspaceId))
      const both = Promise.allSettled([
        changeRole(runtime, mine.actor, other.id, 'viewer'),
        changeRole(runtime, other, mine.userId, 'viewer'),
      ])
      await blocked(runtime)
      await release()
      const outcomes = await both
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'forbidden' },
      })
      expect(Object.values(await rolesIn(runtime, mine)).sort()).toEqual(['owner', 'viewer'])
    })

    it('leave one owner if two owners leave at the same time', async () => {
      const other = await addMember(runtime, mine, 'owner')
      const outcomes = await Promise.allSettled([
        removeMember(runtime, mine.actor, mine.userId),
        removeMember(runtime, other, other.id),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })
  })

  it('lose access and account keys with their membership, but keep their other workspaces', async () => {
    const developer = await addMember(runtime, mine, 'developer')
    const { key, id } = await createAccountKey(runtime, developer, { name: 'Theirs' })
    const session = await createSession(runtime, developer.id, VISITOR, {
      workspaceId: mine.workspaceId,
    })
    expect((await readSession(runtime, session.id))?.workspace.id).toBe(mine.workspaceId)
    await authenticateAccountKey(runtime, key)
    await removeMember(runtime, mine.actor, developer.id)
    expect((await readSession(runtime, session.id))?.workspace.id).not.toBe(mine.workspaceId)
    await expect(authenticateAccountKey(runtime, key)).rejects.toMatchObject({ code: 'account_key_invalid' })
    const [row] = await runtime.db.select().from(accountKeys).where(eq(accountKeys.id, id))
    expect(row!.revokedAt).not.toBeNull()
    expect(mailsOf(runtime).at(-1)).toMatchObject({
      to: developer.label,
      subject: expect.stringContaining('no longer'),
    })
  })

  it('can only open their own workspaces in a session', async () => {
    const theirs = await createTestWorkspace(runtime)
    const { id } = await createSession(runtime, mine.userId, VISITOR)
    const session = (await readSession(runtime, id))!
    await expect(openWorkspace(runtime, session, theirs.workspaceId)).rejects.toMatchObject({
      code: 'not_found',
    })
    await createWorkspace(runtime, session, { name: 'Second' })
    expect((await readSession(runtime, id))?.workspace.name).toBe('Second')
    await openWorkspace(runtime, session, mine.workspaceId)
    expect((await readSession(runtime, id))?.workspace.id).toBe(mine.workspaceId)
  })

  it('can delete a workspace, and restore it for seven days', async () => {
    const viewer = await addMember(runtime, mine, 'viewer')
    const { id } = await createSession(runtime, mine.userId, VISITOR)
    const read = async () => (await readSession(runtime, id))!
    const wrong = deleteWorkspace(runtime, await read(), { name: 'Another', password: '' })
    await expect(wrong).rejects.toMatchObject({ fields: [{ field: 'name' }] })
    const { name } = (await read()).workspace
    await deleteWorkspace(runtime, await read(), { name, password: '' })
    expect(
      mailsOf(runtime)
        .map(({ to }) => to)
        .sort(),
    ).toEqual([mine.email, viewer.label].sort())
    expect((await read()).workspace.deleteAfter).toEqual(new Date(runtime.clock.now() + days(7)))
    await restoreWorkspace(runtime, await read())
    expect((await read()).workspace.deleteAfter).toBeNull()
    await deleteWorkspace(runtime, await read(), { name, password: '' })
    runtime.clock.advance(days(7) - 1)
    expect(await closeDeletedWorkspaces(runtime)).toBe(0)
    runtime.clock.advance(1)
    expect(await closeDeletedWorkspaces(runtime)).toBe(1)
    expect(await readStanding(runtime, id)).toMatchObject({ state: 'no_workspace' })
    const [pipe] = await runtime.db.select().from(pipes).where(eq(pipes.id, mine.pipe.id))
    expect(pipe!.deletedAt).not.toBeNull()
    expect(await removeLeftWorkspaces(runtime.db)).toBe(1)
    expect(await runtime.db.select().from(workspaces).where(eq(workspaces.id, mine.workspaceId))).toEqual([])
  })
})
