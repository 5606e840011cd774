import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { accountKeys, members, pipes, users, workspaces } from '#drizzle/schema/index.ts'
import { blocked, describeWithDatabase, holdTransaction } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { days } from '../../platform/kernel/clock.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { createAccountKey } from '../accounts/account-keys.ts'
import { authenticateAccountKey } from '../accounts/authenticate-account-key.ts'
import { hashPassword } from '../accounts/password.ts'
import { turnOutStrangers } from '../accounts/turned-off.ts'
import { createAccount } from '../accounts/users.ts'
import { listAudit } from '../audit/list-audit.ts'
import type { Actor } from '../audit/record-audit.ts'
import type { Role } from '../rights.ts'
import { readSession, readStanding } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import {
  closeDeletedWorkspaces,
  deleteWorkspace,
  removeLeftWorkspaces,
  restoreWorkspace,
} from './delete-workspace.ts'
import {
  acceptInvitation,
  invite,
  listInvitations,
  resendInvitation,
  withdrawInvitation,
} from './invitations.ts'
import { joinByInvitation } from './join.ts'
import { changeRole, listMembers, lockWorkspace, removeMember } from './members.ts'
import {
  changeWorkspace,
  createWorkspace,
  insertWorkspace,
  listWorkspaces,
  openWorkspace,
} from './workspaces.ts'

const ALL = { limit: 100 }
const VISITOR = { userAgent: null, address: null }
let people = 0
const newEmail = () => `guest-${++people}@people.example.com`

describeWithDatabase("a workspace's people", (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
    runtime.jobs.length = 0
  })

  const mails = () =>
    runtime.jobs.map(({ data }) => openMailJob(runtime, data as { sealed: string }) as Mailed)
  const linkTo = (email: string) =>
    mails()
      .findLast(({ mail }) => mail.to === email)!
      .mail.text.match(/#(\S+)/)![1]!

  async function member(role: Role, to = mine): Promise<Actor & { id: string }> {
    const email = newEmail()
    const { userId } = await createAccount(runtime, { email, passwordHash: null, emailVerified: true })
    await runtime.db.insert(members).values({ workspaceId: to.workspaceId, userId, role })
    return { workspaceId: to.workspaceId, kind: 'user', id: userId, label: email, role }
  }
  const roles = async () =>
    Object.fromEntries(
      (await listMembers(runtime, mine.actor, ALL)).data.map(({ userId, role }) => [userId, role]),
    )

  describe('invitations', () => {
    it("make the address's owner a member, once, creating the account if necessary", async () => {
      const email = newEmail()
      await invite(runtime, mine.actor, { email, role: 'developer' })
      const [text] = mails().map(({ mail }) => mail.text)
      expect(text).toContain(`${mine.email} invites you`)
      const token = linkTo(email)
      const guest = { signedIn: undefined, address: '192.0.2.9' }
      const short = joinByInvitation(runtime, { token, password: 'short', name: undefined }, guest)
      await expect(short).rejects.toMatchObject({ fields: [{ field: 'password' }] })
      const given = { token, password: 'correct horse battery', name: 'Guest' }
      const { userId, workspaceId } = await joinByInvitation(runtime, given, guest)
      expect(workspaceId).toBe(mine.workspaceId)
      expect((await roles())[userId]).toBe('developer')
      expect((await listWorkspaces(runtime, userId)).map(({ role }) => role).sort()).toEqual([
        'developer',
        'owner',
      ])
      await expect(joinByInvitation(runtime, given, guest)).rejects.toMatchObject({ code: 'link_invalid' })
      expect((await listInvitations(runtime, mine.actor, ALL)).data).toEqual([])
      const actions = (await listAudit(runtime, mine.actor, { limit: 2 })).data.map(({ action }) => action)
      expect(actions).toEqual(['member.joined', 'member.invited'])
    })

    it("require an existing account's password, and verify its address", async () => {
      const email = newEmail()
      const passwordHash = await hashPassword('correct horse battery')
      const { userId } = await createAccount(runtime, { email, passwordHash, emailVerified: false })
      await invite(runtime, mine.actor, { email, role: 'viewer' })
      const token = linkTo(email)
      const join = (password: string) =>
        joinByInvitation(
          runtime,
          { token, password, name: undefined },
          { signedIn: undefined, address: '192.0.2.9' },
        )
      await expect(join('another password')).rejects.toMatchObject({ code: 'sign_in_failed' })
      expect(await join('correct horse battery')).toMatchObject({ userId })
      const { id } = await createSession(runtime, userId, VISITOR, { workspaceId: mine.workspaceId })
      expect(await readSession(runtime, id)).toMatchObject({
        emailVerified: true,
        workspace: { id: mine.workspaceId },
        actor: { role: 'viewer' },
      })
    })

    it('give new people no workspace of their own if sign-up is closed', async () => {
      const closed = testRuntime(database(), { SIGN_UP: 'closed' })
      const email = newEmail()
      await invite(runtime, mine.actor, { email, role: 'viewer' })
      const given = { token: linkTo(email), password: 'correct horse battery', name: undefined }
      const { userId } = await joinByInvitation(closed, given, { signedIn: undefined, address: '192.0.2.9' })
      expect((await listWorkspaces(closed, userId)).map(({ id }) => id)).toEqual([mine.workspaceId])
    })

    it('are accepted only once if two people try at the same time', async () => {
      const guest = await member('viewer', await createTestWorkspace(runtime))
      await invite(runtime, mine.actor, { email: guest.label, role: 'admin' })
      const accept = () =>
        acceptInvitation(runtime, linkTo(guest.label), { id: guest.id, email: guest.label })
      const outcomes = await Promise.allSettled([accept(), accept()])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'link_invalid' },
      })
    })

    it('are either accepted or withdrawn if both happen at the same time', async () => {
      const guest = await member('viewer', await createTestWorkspace(runtime))
      const { id } = await invite(runtime, mine.actor, { email: guest.label, role: 'admin' })
      // Stops the acceptance after it has taken the invitation.
      const release = await holdTransaction(runtime, (tx) =>
        tx.select().from(users).where(eq(users.id, guest.id)).for('update'),
      )
      const accepted = acceptInvitation(runtime, linkTo(guest.label), { id: guest.id, email: guest.label })
      await blocked(runtime)
      const withdrawn = withdrawInvitation(runtime, mine.actor, id)
      await blocked(runtime, 2)
      const refused = expect(withdrawn).rejects.toMatchObject({ code: 'not_found' })
      await Promise.all([release(), refused])
      expect(await accepted).toEqual({ workspaceId: mine.workspaceId })
    })

    it('cannot be accepted while the account that sent them changes hands', async () => {
      const [guest, other] = [
        await member('viewer', await createTestWorkspace(runtime)),
        await member('admin'),
      ]
      await invite(runtime, mine.actor, { email: guest.label, role: 'admin' })
      // Stops the change of hands after it has deleted the invitation.
      const release = await holdTransaction(runtime, (tx) =>
        tx.select().from(members).where(eq(members.userId, other.id)).for('update'),
      )
      const changing = runtime.db.transaction((tx) => turnOutStrangers({ ...runtime, db: tx }, mine.userId))
      await blocked(runtime)
      const accepted = acceptInvitation(runtime, linkTo(guest.label), { id: guest.id, email: guest.label })
      await blocked(runtime, 2)
      const refused = expect(accepted).rejects.toMatchObject({ code: 'link_invalid' })
      await Promise.all([release(), changing, refused])
    })

    it('are invalid for another address, after seven days, or once withdrawn or resent', async () => {
      const other = await member('viewer', await createTestWorkspace(runtime))
      const email = newEmail()
      await invite(runtime, mine.actor, { email, role: 'viewer' })
      const first = linkTo(email)
      const accept = (token: string, of = { id: other.id, email: other.label }) =>
        acceptInvitation(runtime, token, of)
      await expect(accept(first)).rejects.toMatchObject({ code: 'forbidden' })
      const [invitation] = (await listInvitations(runtime, mine.actor, ALL)).data
      await resendInvitation(runtime, mine.actor, invitation!.id)
      await expect(accept(first)).rejects.toMatchObject({ code: 'link_invalid' })
      const second = linkTo(email)
      runtime.clock.advance(days(7))
      await expect(accept(second)).rejects.toMatchObject({ code: 'link_invalid' })
      await resendInvitation(runtime, mine.actor, invitation!.id)
      const third = linkTo(email)
      await withdrawInvitation(runtime, mine.actor, invitation!.id)
      await expect(accept(third)).rejects.toMatchObject({ code: 'link_invalid' })
      await expect(withdrawInvitation(runtime, mine.actor, invitation!.id)).rejects.toMatchObject({
        code: 'not_found',
      })
      expect(Object.keys(await roles())).toEqual([mine.userId])
    })

    it("cannot be seen, resent or withdrawn from another workspace, and cannot exceed their sender's rights", async () => {
      const theirs = await createTestWorkspace(runtime)
      const admin = await member('admin')
      await invite(runtime, mine.actor, { email: newEmail(), role: 'owner' })
      const { id } = (await listInvitations(runtime, mine.actor, ALL)).data[0]!
      expect((await listInvitations(runtime, theirs.actor, ALL)).data).toEqual([])
      for (const verb of [resendInvitation, withdrawInvitation]) {
        await expect(verb(runtime, theirs.actor, id)).rejects.toMatchObject({ code: 'not_found' })
        await expect(verb(runtime, admin, id)).rejects.toMatchObject({ code: 'forbidden' })
      }
      const asOwner = invite(runtime, admin, { email: newEmail(), role: 'owner' })
      await expect(asOwner).rejects.toMatchObject({ code: 'forbidden' })
      const again = invite(runtime, mine.actor, { email: admin.label.toUpperCase(), role: 'viewer' })
      await expect(again).rejects.toMatchObject({ fields: [{ field: 'email' }] })
    })

    it('are limited per mailbox across workspaces', async () => {
      const email = newEmail()
      for (let sent = 0; sent < 5; sent++) await invite(runtime, mine.actor, { email, role: 'viewer' })
      const theirs = await createTestWorkspace(runtime)
      const more = invite(runtime, theirs.actor, { email, role: 'viewer' })
      await expect(more).rejects.toMatchObject({ code: 'rate_limited' })
    })

    it('are limited per owner across workspaces', async () => {
      const workspaceId = await insertWorkspace(runtime, { id: mine.userId }, { name: 'Second' })
      const from = (one: string) =>
        invite(runtime, { ...mine.actor, workspaceId: one }, { email: newEmail(), role: 'viewer' })
      for (let sent = 0; sent < 20; sent++) await from(mine.workspaceId)
      await expect(from(workspaceId)).rejects.toMatchObject({ code: 'rate_limited' })
    })

    it("contain no link but Sluice's own, whatever the workspace and the account key are named", async () => {
      const name = 'Prizes: https://evil.example/win'
      await changeWorkspace(runtime, mine.actor, { name })
      const key: Actor = {
        ...mine.actor,
        kind: 'account_key',
        id: mine.accountKey.id,
        label: 'www.evil.example',
      }
      await invite(runtime, key, { email: newEmail(), role: 'viewer' })
      const [{ subject, text }] = mails().map(({ mail }) => mail) as [Mailed['mail']]
      expect(subject).toBe('Join Prizes: https evil example win on Sluice')
      expect(text).toContain('www evil example invites you to the workspace “Prizes: https evil example win”')
    })
  })

  describe('roles', () => {
    it('can be changed by owners, and up to admin by admins', async () => {
      const [admin, developer] = [await member('admin'), await member('developer')]
      await changeRole(runtime, admin, developer.id, 'admin')
      expect((await roles())[developer.id]).toBe('admin')
      await expect(changeRole(runtime, admin, developer.id, 'owner')).rejects.toMatchObject({
        code: 'forbidden',
      })
      await expect(changeRole(runtime, admin, mine.userId, 'viewer')).rejects.toMatchObject({
        code: 'forbidden',
      })
      await expect(removeMember(runtime, admin, mine.userId)).rejects.toMatchObject({ code: 'forbidden' })
      await changeRole(runtime, mine.actor, developer.id, 'owner')
      expect((await roles())[developer.id]).toBe('owner')
      expect(mails().at(-1)!.mail).toMatchObject({
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
      await member('admin')
      const { actor, userId } = mine
      await expect(removeMember(runtime, actor, userId)).rejects.toMatchObject({ code: 'conflict' })
      await expect(changeRole(runtime, actor, userId, 'admin')).rejects.toMatchObject({ code: 'conflict' })
      const other = await member('owner')
      await removeMember(runtime, actor, userId)
      expect(
        (await listMembers(runtime, other, ALL)).data.filter(({ role }) => role === 'owner'),
      ).toHaveLength(1)
    })

    it('leave one owner if two owners demote each other at the same time', async () => {
      const other = await member('owner')
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
      expect(Object.values(await roles()).sort()).toEqual(['owner', 'viewer'])
    })

    it('leave one owner if two owners leave at the same time', async () => {
      const other = await member('owner')
      const outcomes = await Promise.allSettled([
        removeMember(runtime, mine.actor, mine.userId),
        removeMember(runtime, other, other.id),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    })
  })

  it('lose access and account keys with their membership, but keep their other workspaces', async () => {
    const developer = await member('developer')
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
    expect(mails().at(-1)!.mail).toMatchObject({
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
    const viewer = await member('viewer')
    const { id } = await createSession(runtime, mine.userId, VISITOR)
    const read = async () => (await readSession(runtime, id))!
    const wrong = deleteWorkspace(runtime, await read(), { name: 'Another', password: '' })
    await expect(wrong).rejects.toMatchObject({ fields: [{ field: 'name' }] })
    const { name } = (await read()).workspace
    await deleteWorkspace(runtime, await read(), { name, password: '' })
    expect(
      mails()
        .map(({ mail }) => mail.to)
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

type Mailed = { mail: { to: string; subject: string; text: string } }
