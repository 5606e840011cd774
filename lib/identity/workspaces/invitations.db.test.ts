import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { members, users } from '#drizzle/schema/index.ts'
import { blocked, describeWithDatabase, holdTransaction } from '../../../test/support/databases.ts'
import { addMember, mailsOf, newEmail, rolesIn } from '../../../test/support/people.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { days } from '../../platform/kernel/clock.ts'
import { hashPassword } from '../accounts/password.ts'
import { turnOutStrangers } from '../accounts/turned-off.ts'
import { createAccount } from '../accounts/users.ts'
import { listAudit } from '../audit/list-audit.ts'
import type { Actor } from '../audit/record-audit.ts'
import { readSession } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import {
  acceptInvitation,
  invite,
  listInvitations,
  resendInvitation,
  withdrawInvitation,
} from './invitations.ts'
import { joinByInvitation } from './join.ts'
import { changeWorkspace, insertWorkspace, listWorkspaces } from './workspaces.ts'

const ALL = { limit: 100 }
const VISITOR = { userAgent: null, address: null }

describeWithDatabase('invitations', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
    runtime.jobs.length = 0
  })

  const linkTo = (email: string) =>
    mailsOf(runtime)
      .findLast(({ to }) => to === email)!
      .text.match(/#(\S+)/)![1]!

  it("make the address's owner a member, once, creating the account if necessary", async () => {
    const email = newEmail()
    await invite(runtime, mine.actor, { email, role: 'developer' })
    const [text] = mailsOf(runtime).map(({ text }) => text)
    expect(text).toContain(`${mine.email} invites you`)
    const token = linkTo(email)
    const guest = { signedIn: undefined, address: '192.0.2.9' }
    const short = joinByInvitation(runtime, { token, password: 'short', name: undefined }, guest)
    await expect(short).rejects.toMatchObject({ fields: [{ field: 'password' }] })
    const given = { token, password: 'correct horse battery', name: 'Guest' }
    const { userId, workspaceId } = await joinByInvitation(runtime, given, guest)
    expect(workspaceId).toBe(mine.workspaceId)
    expect((await rolesIn(runtime, mine))[userId]).toBe('developer')
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
    const guest = await addMember(runtime, await createTestWorkspace(runtime), 'viewer')
    await invite(runtime, mine.actor, { email: guest.label, role: 'admin' })
    const accept = () => acceptInvitation(runtime, linkTo(guest.label), { id: guest.id, email: guest.label })
    const outcomes = await Promise.allSettled([accept(), accept()])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'link_invalid' },
    })
  })

  it('are either accepted or withdrawn if both happen at the same time', async () => {
    const guest = await addMember(runtime, await createTestWorkspace(runtime), 'viewer')
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
      await addMember(runtime, await createTestWorkspace(runtime), 'viewer'),
      await addMember(runtime, mine, 'admin'),
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
    const other = await addMember(runtime, await createTestWorkspace(runtime), 'viewer')
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
    expect(Object.keys(await rolesIn(runtime, mine))).toEqual([mine.userId])
  })

  it("cannot be seen, resent or withdrawn from another workspace, and cannot exceed their sender's rights", async () => {
    const theirs = await createTestWorkspace(runtime)
    const admin = await addMember(runtime, mine, 'admin')
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
    const { subject, text } = mailsOf(runtime)[0]!
    expect(subject).toBe('Join Prizes: https evil example win on Sluice')
    expect(text).toContain('www evil example invites you to the workspace “Prizes: https evil example win”')
  })
})
