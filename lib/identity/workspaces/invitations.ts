import { randomBytes } from 'node:crypto'
import { and, desc, eq, gt, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { invitations, members, users, workspaces } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { days } from '../../platform/kernel/clock.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, isUuid, uuidv7 } from '../../platform/kernel/ids.ts'
import { toAnswer } from '../../platform/kernel/parse-input.ts'
import { enqueueMail, withoutLinks } from '../../platform/mail/mail.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { CoreRuntime, MailingRuntime, Runtime } from '../../platform/runtime.ts'
import { invitationMail } from '../accounts/mails.ts'
import { emailField } from '../accounts/users.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { readOwner } from '../owner.ts'
import type { Role } from '../rights.ts'
import { asOfNow, assertMayManage, lockWorkspace, roleField } from './members.ts'

/**
 * People become members through a link sent to their address. It can be used once, within seven days, and only with
 * that address. Its token follows the #, and only the hash of the token is stored.
 */
export const invitationInput = z.strictObject({ email: emailField, role: roleField })

const GOOD_FOR_MS = days(7)
/** Each invitation sends an email to someone who may not have requested it. */
const PER_OWNER = { burst: 20, refillMs: 600_000 }
const PER_MAILBOX = { burst: 5, refillMs: 600_000 }

export const invitationAnswer = z.strictObject({
  id: z.uuid(),
  email: z.string(),
  role: roleField,
  /** The email address of the user, or the name of the account key, that sent it. */
  invitedBy: z.string(),
  sentAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
})
export type Invitation = z.output<typeof invitationAnswer>
type InTx = MailingRuntime & { db: Db }

/** Invitations that were not accepted, including expired ones, which can be sent again. */
export async function listInvitations(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<Invitation>> {
  const before = readCursor(cursor, isUuid)
  const found = await db
    .select()
    .from(invitations)
    .where(
      and(eq(invitations.workspaceId, actor.workspaceId), before ? lt(invitations.id, before) : undefined),
    )
    .orderBy(desc(invitations.id))
    .limit(limit + 1)
  return toPage(found, limit, toInvitation, ({ id }) => id)
}

const toInvitation = (row: typeof invitations.$inferSelect): Invitation => toAnswer(invitationAnswer, row)

/** Inviting an address again replaces the previous invitation and invalidates its link. */
export async function invite(
  runtime: MailingRuntime,
  actor: Actor,
  { email, role }: z.output<typeof invitationInput>,
): Promise<Invitation> {
  assertMayManage(actor, role)
  await takeMails(runtime, actor, email)
  return runtime.db.transaction(async (tx) => {
    const workspace = await lockWorkspace(tx, actor.workspaceId)
    const actorNow = await asOfNow(tx, actor)
    assertMayManage(actorNow, role)
    if (await isMember(tx, actor.workspaceId, email))
      throw invalidRequest([{ field: 'email', message: 'already belongs to a member of this workspace' }])
    const mine = eq(invitations.workspaceId, actor.workspaceId)
    const [before] = await tx
      .delete(invitations)
      .where(and(mine, sql`lower(${invitations.email}) = lower(${email})`))
      .returning({ role: invitations.role })
    if (before) assertMayManage(actorNow, before.role)
    const id = uuidv7(runtime.clock.now())
    const sent = await send({ ...runtime, db: tx }, actor, { workspace, email, role, id })
    const entry = { action: 'member.invited', subjectId: id, subjectLabel: email, detail: { role } }
    await recordAudit({ db: tx, clock: runtime.clock }, actor, entry)
    return sent
  })
}

/** Sends a new link and invalidates the previous one. */
export async function resendInvitation(
  runtime: MailingRuntime,
  actor: Actor,
  id: string,
): Promise<Invitation> {
  return change(runtime, actor, id, async (inTx, { workspace, email, role }) => {
    await takeMails(inTx, actor, email)
    const sent = await send(inTx, actor, { workspace, email, role, id })
    const entry = { action: 'invitation.resent', subjectId: id, subjectLabel: email, detail: { role } }
    await recordAudit(inTx, actor, entry)
    return sent
  })
}

export async function withdrawInvitation(runtime: MailingRuntime, actor: Actor, id: string): Promise<void> {
  await change(runtime, actor, id, async (inTx, { email, role }) => {
    const entry = { action: 'invitation.withdrawn', subjectId: id, subjectLabel: email, detail: { role } }
    await recordAudit(inTx, actor, entry)
  })
}

type Withdrawn = { workspace: string; email: string; role: Role }

/** Deletes the invitation's row and runs `work`, which inserts a new row if the invitation is to be sent again. */
async function change<Result>(
  runtime: MailingRuntime,
  actor: Actor,
  id: string,
  work: (inTx: InTx, row: Withdrawn) => Promise<Result>,
): Promise<Result> {
  return runtime.db.transaction(async (tx) => {
    const workspace = await lockWorkspace(tx, actor.workspaceId)
    const mine = and(eq(invitations.id, id), eq(invitations.workspaceId, actor.workspaceId))
    const [row] = isUuid(id) ? await tx.delete(invitations).where(mine).returning() : []
    if (!row) throw new SluiceError('not_found', 'There is no such invitation. It may have been accepted.')
    assertMayManage(await asOfNow(tx, actor), row.role)
    return work({ ...runtime, db: tx }, { ...row, workspace })
  })
}

type Sent = { id: string; workspace: string; email: string; role: Role }

async function send(inTx: InTx, actor: Actor, { id, workspace, email, role }: Sent): Promise<Invitation> {
  const { db, clock, config } = inTx
  const token = randomBytes(32).toString('base64url')
  const now = new Date(clock.now())
  const [row] = await db
    .insert(invitations)
    .values({
      id,
      workspaceId: actor.workspaceId,
      email,
      role,
      tokenHash: hashSecret(token),
      invitedBy: actor.label,
      sentAt: now,
      expiresAt: new Date(clock.now() + GOOD_FOR_MS),
      createdAt: now,
    })
    .returning()
  const link = `${config.baseUrl}/invitation#${token}`
  const by = actor.kind === 'user' ? actor.label : withoutLinks(actor.label)
  const mail = invitationMail(email, { workspace: withoutLinks(workspace), role, by, link })
  await enqueueMail(inTx, db, { kind: 'mail', mail: { ...mail, workspaceId: actor.workspaceId } })
  return toInvitation(row!)
}

async function takeMails(runtime: CoreRuntime, actor: Actor, email: string): Promise<void> {
  const owner = await readOwner(runtime.db, actor.workspaceId)
  await takeFromLimit(runtime, `invite:owner:${owner}`, PER_OWNER)
  await takeFromLimit(runtime, `invite:mailbox:${hashSecret(email.toLowerCase())}`, PER_MAILBOX)
}

async function isMember(tx: Db, workspaceId: string, email: string): Promise<boolean> {
  const found = await tx
    .select({ id: users.id })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(eq(members.workspaceId, workspaceId), sql`lower(${users.email}) = lower(${email})`))
  return found.length > 0
}

export type OpenInvitation = {
  workspaceId: string
  workspace: string
  email: string
  role: Role
  invitedBy: string
}

/** The invitation that a link belongs to. Used, withdrawn, replaced or expired links are invalid. */
export async function findInvitation({ db, clock }: CoreRuntime, token: string): Promise<OpenInvitation> {
  const [found] = await db
    .select({ invitation: invitations, workspace: workspaces.name })
    .from(invitations)
    .innerJoin(workspaces, eq(workspaces.id, invitations.workspaceId))
    .where(isGood(token, new Date(clock.now())))
  if (!found) throw noInvitation()
  const { workspaceId, email, role, invitedBy } = found.invitation
  return { workspaceId, workspace: found.workspace, email, role, invitedBy }
}

/** Whether an address has been invited, and so may have an account while sign-up is closed. */
export async function isInvited(
  { db, clock }: { db: Db; clock: Runtime['clock'] },
  email: string,
): Promise<boolean> {
  const open = and(
    sql`lower(${invitations.email}) = lower(${email})`,
    gt(invitations.expiresAt, new Date(clock.now())),
  )
  return (await db.select({ id: invitations.id }).from(invitations).where(open).limit(1)).length > 0
}

/** Makes a user a member. The user must have the invited address. Existing members keep their role. */
export async function acceptInvitation(
  runtime: CoreRuntime,
  token: string,
  user: { id: string; email: string },
): Promise<{ workspaceId: string }> {
  const now = new Date(runtime.clock.now())
  return runtime.db.transaction(async (tx) => {
    // The workspace is locked first, as by every other change of its members and invitations.
    await lockWorkspace(tx, (await findInvitation({ ...runtime, db: tx }, token)).workspaceId)
    const [taken] = await tx.delete(invitations).where(isGood(token, now)).returning()
    if (!taken) throw noInvitation()
    const { workspaceId, email, role } = taken
    if (email.toLowerCase() !== user.email.toLowerCase())
      throw new SluiceError(
        'forbidden',
        `This invitation is for ${email}. You are signed in as ${user.email}.`,
      )
    await tx
      .insert(members)
      .values({ workspaceId, userId: user.id, role, createdAt: now })
      .onConflictDoNothing()
    const actor: Actor = { workspaceId, kind: 'user', id: user.id, label: user.email, role }
    const entry = { action: 'member.joined', subjectId: user.id, subjectLabel: user.email, detail: { role } }
    await recordAudit({ db: tx, clock: runtime.clock }, actor, entry)
    return { workspaceId }
  })
}

function isGood(token: string, now: Date) {
  return and(eq(invitations.tokenHash, hashSecret(token)), gt(invitations.expiresAt, now))
}

function noInvitation(): SluiceError {
  return new SluiceError(
    'link_invalid',
    'This invitation has been used, withdrawn or replaced, or is older than seven days. Ask for a new one.',
  )
}
