import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import {
  accountKeys,
  files,
  invitations,
  members,
  pipes,
  senders,
  workspaces,
} from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { CoreRuntime, MailingRuntime } from '../../platform/runtime.ts'
import { assertOwner } from '../accounts/assert-owner.ts'
import { deletionMail } from '../accounts/mails.ts'
import { memberAddresses } from '../accounts/users.ts'
import { recordAudit } from '../audit/record-audit.ts'
import type { Session } from '../sessions/read-session.ts'

/**
 * How a workspace is deleted. For seven days, it is treated like a suspended workspace: it accepts no bytes and keeps
 * all its data. During that time, any owner can restore it. After that, access ends, uploads in progress are canceled,
 * and a sweep deletes the workspace's rows once its buckets are cleared of unfinished parts. Objects stay: they belong
 * to the customer.
 */
export const GRACE_MS = days(7)

export async function deleteWorkspace(
  runtime: MailingRuntime,
  session: Session,
  { name, password }: { name: string; password: string },
): Promise<void> {
  if (session.workspace.demo)
    throw new SluiceError('conflict', 'The demo workspace cannot be deleted while DEMO is on.')
  if (name.trim() !== session.workspace.name)
    throw invalidRequest([{ field: 'name', message: "is not this workspace's name" }])
  await assertOwner(runtime, session, password, { field: 'password', message: 'is wrong' })
  const { clock } = runtime
  const deleteAfter = new Date(clock.now() + GRACE_MS)
  await runtime.db.transaction(async (tx) => {
    const { workspaceId } = session.actor
    const begun = await tx
      .update(workspaces)
      .set({ deleteAfter })
      .where(and(eq(workspaces.id, workspaceId), isNull(workspaces.deleteAfter)))
      .returning({ id: workspaces.id })
    if (begun.length === 0) return
    const detail = { deleteAfter: deleteAfter.toISOString() }
    await recordAudit({ db: tx, clock }, session.actor, { action: 'workspace.deleted', detail })
    await tellMembers({ ...runtime, db: tx }, session, deleteAfter)
  })
}

/** Nothing has been deleted yet, so clearing the date is enough. */
export async function restoreWorkspace(runtime: MailingRuntime, session: Session): Promise<void> {
  const { clock } = runtime
  await runtime.db.transaction(async (tx) => {
    const { workspaceId } = session.actor
    const restored = await tx
      .update(workspaces)
      .set({ deleteAfter: null })
      .where(and(eq(workspaces.id, workspaceId), isNotNull(workspaces.deleteAfter)))
      .returning({ id: workspaces.id })
    if (restored.length === 0) return
    await recordAudit({ db: tx, clock }, session.actor, { action: 'workspace.restored' })
    await tellMembers({ ...runtime, db: tx }, session, null)
  })
}

async function tellMembers(
  inTx: MailingRuntime & { db: Db },
  session: Session,
  deleteAfter: Date | null,
): Promise<void> {
  const { id, name } = session.workspace
  for (const to of await memberAddresses(inTx.db, id)) {
    const mail = deletionMail(to, {
      workspace: name,
      by: session.email,
      deleteAfter,
      baseUrl: inTx.config.baseUrl,
    })
    await enqueueMail(inTx, inTx.db, { kind: 'mail', mail: { ...mail, workspaceId: id } })
  }
}

/**
 * Ends all of the workspace's keys, Senders, Pipes, repairs, invitations and memberships. Returns the ids of the Pipes, so that
 * the caller can cancel their uploads immediately.
 */
export async function closeWorkspace(tx: Db, workspaceId: string, at: Date): Promise<string[]> {
  await tx.update(accountKeys).set({ revokedAt: at }).where(eq(accountKeys.workspaceId, workspaceId))
  await tx.update(senders).set({ revokedAt: at }).where(eq(senders.workspaceId, workspaceId))
  await tx.delete(invitations).where(eq(invitations.workspaceId, workspaceId))
  await tx.delete(members).where(eq(members.workspaceId, workspaceId))
  await endRepairs(tx, workspaceId, at)
  const closed = await tx
    .update(pipes)
    .set({ deletedAt: at, sourceHttp: false })
    .where(eq(pipes.workspaceId, workspaceId))
    .returning({ id: pipes.id })
  return closed.map(({ id }) => id)
}

/** Stops the copying of objects to destinations that are missing them, and schedules the deletion of copied parts. */
async function endRepairs(tx: Db, workspaceId: string, at: Date): Promise<void> {
  await tx.execute(sql`
    update file_destinations d set repair_at = null, repair_claim = null, repair_until = null,
      abort_pending = d.abort_pending or d.multipart_id is not null, abort_at = ${at.toISOString()}::timestamptz
    from files f where f.id = d.file_id and f.workspace_id = ${workspaceId}::uuid and d.repair_at is not null`)
}

/** Closes one workspace whose grace period is over. The sweep of deleted Pipes then cancels its uploads in progress. */
export async function closeDeletedWorkspaces({ db, clock }: CoreRuntime): Promise<number> {
  const now = new Date(clock.now())
  return db.transaction(async (tx) => {
    const [due] = await rows<{ id: string }>(
      tx,
      sql`select w.id from ${workspaces} w where w.delete_after <= ${now.toISOString()}::timestamptz
        and exists (select from members m where m.workspace_id = w.id)
        limit 1 for update skip locked`,
    )
    if (!due) return 0
    await closeWorkspace(tx, due.id, now)
    return 1
  })
}

/** Deletes a workspace without members once no uploads are left to complete or clean up. */
export async function removeLeftWorkspaces(db: Db): Promise<number> {
  const left = await rows<{ id: string }>(
    db,
    sql`select w.id from ${workspaces} w
    where not w.demo and not exists (select from members m where m.workspace_id = w.id)
      and not exists (
        select from files f where f.workspace_id = w.id and f.status in ('uploading', 'transferring'))
      and not exists (
        select from ${files} f join file_destinations d on d.file_id = f.id
        where f.workspace_id = w.id and f.status not in ('uploading', 'transferring', 'transferred') and d.abort_pending)
    limit 1`,
  )
  for (const { id } of left) await db.delete(workspaces).where(eq(workspaces.id, id))
  return left.length
}
