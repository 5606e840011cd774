import { and, desc, eq, isNull, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { members, uploadLinks, users, workspaces } from '#drizzle/schema/index.ts'
import { type Db, LIVE_CHANNEL, rows } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { MailingRuntime, Runtime } from '../../platform/runtime.ts'
import { revokeKeys } from '../accounts/account-keys.ts'
import { roleOfKey } from '../accounts/authenticate-account-key.ts'
import { removedMail, roleChangedMail } from '../accounts/mails.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { assertMay, may, ROLES, type Role } from '../rights.ts'

/**
 * The members of a workspace and their roles. Every change locks the workspace's row, then checks the caller's rights
 * again: if two owners demote each other at the same time, the second one is no longer an owner.
 */
export const roleField = z.enum(ROLES)

export const roleChange = z.strictObject({ role: roleField })

export const memberAnswer = z.strictObject({
  userId: z.uuid(),
  email: z.string(),
  name: z.string().nullable(),
  role: roleField,
  joinedAt: z.iso.datetime(),
})
export type Member = z.output<typeof memberAnswer>

const SHOWN = {
  userId: users.id,
  email: users.email,
  name: users.name,
  role: members.role,
  joinedAt: members.createdAt,
}
type Row = Omit<Member, 'joinedAt'> & { joinedAt: Date }
const toMember = (row: Row): Member => ({ ...row, joinedAt: row.joinedAt.toISOString() })

export async function listMembers(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<Member>> {
  const before = readCursor(cursor, isUuid)
  const found = await db
    .select(SHOWN)
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.workspaceId, actor.workspaceId), before ? lt(members.userId, before) : undefined))
    .orderBy(desc(members.userId))
    .limit(limit + 1)
  return toPage(found, limit, toMember, ({ userId }) => userId)
}

/** Whether a user may grant this role, or revoke it. */
export function mayManage(actor: { role: Role }, role: Role): boolean {
  return may(actor, role === 'owner' ? 'own' : 'administer')
}

export function assertMayManage(actor: Actor, role: Role): void {
  assertMay(actor, role === 'owner' ? 'own' : 'administer')
}

export async function changeRole(
  runtime: MailingRuntime,
  actor: Actor,
  userId: string,
  role: Role,
): Promise<Member> {
  return changeMember(runtime, actor, userId, async (inTx, now, { workspace, ...member }) => {
    assertMayManage(now, member.role)
    assertMayManage(now, role)
    if (member.role === role) return toMember(member)
    if (member.role === 'owner') await assertAnotherOwner(inTx.db, now.workspaceId, userId)
    await inTx.db
      .update(members)
      .set({ role })
      .where(and(eq(members.workspaceId, now.workspaceId), eq(members.userId, userId)))
    const detail = { from: member.role, to: role }
    await noteChange(inTx, actor, { action: 'member.role_changed', member, detail })
    const mail = roleChangedMail(member.email, { workspace, role, by: actor.label })
    await enqueueMail(inTx, inTx.db, { kind: 'mail', mail: { ...mail, workspaceId: now.workspaceId } })
    return toMember({ ...member, role })
  })
}

/** Removes another member or the actor themselves. Leaving requires no right. */
export async function removeMember(runtime: MailingRuntime, actor: Actor, userId: string): Promise<void> {
  await changeMember(runtime, actor, userId, async (inTx, now, member) => {
    const leaves = actor.kind === 'user' && actor.id === userId
    if (!leaves) assertMayManage(now, member.role)
    if (member.role === 'owner') await assertAnotherOwner(inTx.db, now.workspaceId, userId)
    await inTx.db
      .delete(members)
      .where(and(eq(members.workspaceId, now.workspaceId), eq(members.userId, userId)))
    await revokeKeys(inTx, actor, { madeBy: userId })
    await stopNotifying(inTx, actor, member.email)
    await noteChange(inTx, actor, { action: leaves ? 'member.left' : 'member.removed', member })
    if (leaves) return
    const mail = removedMail(member.email, { workspace: member.workspace, by: actor.label })
    await enqueueMail(inTx, inTx.db, { kind: 'mail', mail: { ...mail, workspaceId: now.workspaceId } })
  })
}

/** Upload links only send emails to members. */
async function stopNotifying(inTx: Pick<Runtime, 'db' | 'clock'>, actor: Actor, email: string) {
  const changed = await inTx.db
    .update(uploadLinks)
    .set({ notifyEmail: null })
    .where(
      and(
        eq(uploadLinks.workspaceId, actor.workspaceId),
        eq(uploadLinks.notifyEmail, email),
        isNull(uploadLinks.deletedAt),
      ),
    )
    .returning({ subjectId: uploadLinks.id, subjectLabel: uploadLinks.title })
  for (const link of changed)
    await recordAudit(inTx, actor, { action: 'upload_link.changed', ...link, detail: { notifyEmail: null } })
}

type Affected = Row & { workspace: string }
type Change<Result> = (
  inTx: MailingRuntime & { db: Db },
  actorNow: Actor,
  member: Affected,
) => Promise<Result>

async function changeMember<Result>(
  runtime: MailingRuntime,
  actor: Actor,
  userId: string,
  change: Change<Result>,
): Promise<Result> {
  return runtime.db.transaction(async (tx) => {
    const inTx = { ...runtime, db: tx }
    const workspace = await lockWorkspace(tx, actor.workspaceId)
    const actorNow = await asOfNow(tx, actor)
    const [member] = isUuid(userId)
      ? await tx
          .select(SHOWN)
          .from(members)
          .innerJoin(users, eq(users.id, members.userId))
          .where(and(eq(members.workspaceId, actor.workspaceId), eq(members.userId, userId)))
      : []
    if (!member) throw new SluiceError('not_found', 'There is no such member.')
    return change(inTx, actorNow, { ...member, workspace })
  })
}

/** Locks the workspace, so that membership changes are serialized. Returns the workspace's name, for emails. */
export async function lockWorkspace(tx: Db, workspaceId: string): Promise<string> {
  const [found] = await tx
    .select({ name: workspaces.name })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
    .for('update')
  if (!found) throw new SluiceError('not_found', 'There is no such workspace.')
  return found.name
}

/** The actor with their rights after the row was locked, which may be fewer than when they sent the request. */
export async function asOfNow(tx: Db, actor: Actor): Promise<Actor> {
  if (actor.kind === 'account_key') return { ...actor, role: await roleOfKey(tx, actor.id!) }
  if (actor.kind !== 'user') return actor
  const [found] = await tx
    .select({ role: members.role })
    .from(members)
    .where(and(eq(members.workspaceId, actor.workspaceId), eq(members.userId, actor.id!)))
  if (!found) throw new SluiceError('forbidden', 'You are no longer a member of this workspace.')
  return { ...actor, role: found.role }
}

async function assertAnotherOwner(tx: Db, workspaceId: string, userId: string): Promise<void> {
  const others = await rows(
    tx,
    sql`select from members m join users u on u.id = m.user_id
      where m.workspace_id = ${workspaceId}::uuid and m.role = 'owner' and m.user_id <> ${userId}::uuid
        and u.disabled_at is null limit 1`,
  )
  if (others.length > 0) return
  throw new SluiceError(
    'conflict',
    'A workspace needs an owner. Make someone else an owner first, or delete the workspace.',
  )
}

type Noted = { action: string; member: Row; detail?: Record<string, unknown> }

/** Audits the change, and makes open pages and streams check immediately whether they may continue. */
async function noteChange(
  inTx: MailingRuntime,
  actor: Actor,
  { action, member, detail }: Noted,
): Promise<void> {
  const entry = { action, subjectId: member.userId, subjectLabel: member.email, ...(detail && { detail }) }
  await recordAudit(inTx, actor, entry)
  await inTx.db.execute(sql`select pg_notify(${LIVE_CHANNEL}, ${actor.workspaceId})`)
}
