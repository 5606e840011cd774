import { randomBytes } from 'node:crypto'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { invitations, members, users, workspaces } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, isUuid, uuidv7 } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { CoreRuntime, MailingRuntime, Runtime } from '../../platform/runtime.ts'
import { emailField } from '../accounts/users.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import type { Role } from '../rights.ts'
import { assertMayManage, lockWorkspace, roleField } from './members.ts'
import { invitationMail } from './workspace-mails.ts'

/**
 * How people become members: by a link to their address, which is good once, for seven days, and for that address alone. Its
 * token stands after the #, and only its hash is kept.
 */
export const invitationInput = z.strictObject({ email: emailField, role: roleField })

const GOOD_FOR_MS = days(7)
/** Each one is a mail to somebody who may not have asked for it. */
const PER_WORKSPACE = { burst: 50, refillMs: 60_000 }
const PER_MAILBOX = { burst: 5, refillMs: 600_000 }
const MOST = 500

export type Invitation = {
  id: string
  email: string
  role: Role
  invitedBy: string
  sentAt: string
  expiresAt: string
}
type InTx = MailingRuntime & { db: Db }

/** Those that are pending, and those that expired, which can be sent again. */
export async function listInvitations({ db }: Pick<Runtime, 'db'>, actor: Actor): Promise<Invitation[]> {
  const found = await db
    .select()
    .from(invitations)
    .where(eq(invitations.workspaceId, actor.workspaceId))
    .orderBy(asc(invitations.id))
    .limit(MOST)
  return found.map(({ id, email, role, invitedBy, sentAt, expiresAt }) => ({
    id,
    email,
    role,
    invitedBy,
    sentAt: sentAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  }))
}

/** Inviting an address again replaces the invitation of before, whose link ends. */
export async function invite(
  runtime: MailingRuntime,
  actor: Actor,
  { email, role }: z.output<typeof invitationInput>,
): Promise<void> {
  assertMayManage(actor, role)
  await takeMails(runtime, actor, email)
  await runtime.db.transaction(async (tx) => {
    const workspace = await lockWorkspace(tx, actor.workspaceId)
    if (await isMember(tx, actor.workspaceId, email))
      throw invalidRequest([{ field: 'email', message: 'is that of a member already' }])
    const mine = eq(invitations.workspaceId, actor.workspaceId)
    const [before] = await tx
      .delete(invitations)
      .where(and(mine, sql`lower(${invitations.email}) = lower(${email})`))
      .returning({ role: invitations.role })
    if (before) assertMayManage(actor, before.role)
    await send({ ...runtime, db: tx }, actor, { workspace, email, role, id: uuidv7(runtime.clock.now()) })
    const entry = { action: 'member.invited', subjectLabel: email, detail: { role } }
    await recordAudit({ db: tx, clock: runtime.clock }, actor, entry)
  })
}

/** With a new link; the one of before ends. */
export async function resendInvitation(runtime: MailingRuntime, actor: Actor, id: string): Promise<void> {
  await change(runtime, actor, id, async (inTx, { email, role }) => {
    await takeMails(inTx, actor, email)
    const workspace = await lockWorkspace(inTx.db, actor.workspaceId)
    await send(inTx, actor, { workspace, email, role, id })
    const entry = { action: 'invitation.resent', subjectLabel: email, detail: { role } }
    await recordAudit(inTx, actor, entry)
  })
}

export async function withdrawInvitation(runtime: MailingRuntime, actor: Actor, id: string): Promise<void> {
  await change(runtime, actor, id, async (inTx, { email, role }) => {
    await recordAudit(inTx, actor, { action: 'invitation.withdrawn', subjectLabel: email, detail: { role } })
  })
}

/** The row goes; whoever wants another writes it anew. */
async function change(
  runtime: MailingRuntime,
  actor: Actor,
  id: string,
  work: (inTx: InTx, row: { email: string; role: Role }) => Promise<void>,
): Promise<void> {
  await runtime.db.transaction(async (tx) => {
    const mine = and(eq(invitations.id, id), eq(invitations.workspaceId, actor.workspaceId))
    const [row] = isUuid(id) ? await tx.delete(invitations).where(mine).returning() : []
    if (!row) throw new SluiceError('not_found', 'There is no such invitation. It may have been accepted.')
    assertMayManage(actor, row.role)
    await work({ ...runtime, db: tx }, row)
  })
}

type Sent = { id: string; workspace: string; email: string; role: Role }

async function send(inTx: InTx, actor: Actor, { id, workspace, email, role }: Sent): Promise<void> {
  const { db, clock, config } = inTx
  const token = randomBytes(32).toString('base64url')
  const now = clock.now()
  await db.insert(invitations).values({
    id,
    workspaceId: actor.workspaceId,
    email,
    role,
    tokenHash: hashSecret(token),
    invitedBy: actor.label,
    sentAt: new Date(now),
    expiresAt: new Date(now + GOOD_FOR_MS),
    createdAt: new Date(now),
  })
  const link = `${config.baseUrl}/invitation#${token}`
  const mail = invitationMail(email, { workspace, role, by: actor.label, link })
  await enqueueMail(inTx, db, { kind: 'mail', mail: { ...mail, workspaceId: actor.workspaceId } })
}

async function takeMails(runtime: CoreRuntime, actor: Actor, email: string): Promise<void> {
  await takeFromLimit(runtime, `invite:${actor.workspaceId}`, PER_WORKSPACE)
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

/** What a link is for. One that was used, withdrawn, replaced or too long ago is none. */
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

/** Makes a user a member, who must have the invited address. Whoever is one already keeps their role. */
export async function acceptInvitation(
  runtime: CoreRuntime,
  token: string,
  user: { id: string; email: string },
): Promise<{ workspaceId: string }> {
  const now = new Date(runtime.clock.now())
  return runtime.db.transaction(async (tx) => {
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
    'This invitation was used, withdrawn or replaced, or is older than seven days. Ask for another.',
  )
}
