import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'
import type { Actor } from '../audit/record-audit.ts'
import type { Session } from '../sessions/read-session.ts'
import { closeWorkspace } from '../workspaces/delete-workspace.ts'
import { lockWorkspace, removeMember } from '../workspaces/members.ts'
import { assertOwner } from './assert-owner.ts'

export const accountDeletion = z.strictObject({
  email: z.string(),
  password: z.string().max(1000).default(''),
})

/**
 * Removes the user immediately, with every session and key. Workspaces without other members are closed, and a sweep
 * deletes them once their buckets are cleared of unfinished parts; objects stay. Other workspaces continue, and must
 * have another owner.
 */
export async function deleteAccount(
  runtime: MailingRuntime,
  session: Session,
  { email, password }: z.output<typeof accountDeletion>,
  /** Passed in because uploads are in a layer above accounts. */
  cancelUploads: (pipeId: string) => Promise<number>,
): Promise<void> {
  if (email.trim().toLowerCase() !== session.email.toLowerCase()) {
    throw invalidRequest([{ field: 'email', message: "is not this account's address" }])
  }
  await assertOwner(runtime, session, password, { field: 'password', message: 'is wrong' })
  const closed = await runtime.db.transaction(async (tx) => {
    const inTx = { ...runtime, db: tx }
    const pipes: string[] = []
    // Someone may be joining one of the workspaces, so who else is a member is only read once they are locked.
    for (const { workspaceId } of await placesOf(tx, session.userId)) await lockWorkspace(tx, workspaceId)
    for (const place of await placesOf(tx, session.userId)) pipes.push(...(await leave(inTx, session, place)))
    await tx.delete(users).where(eq(users.id, session.userId))
    return pipes
  })
  for (const pipeId of closed) await cancelUploads(pipeId)
}

type Place = { workspaceId: string; name: string; demo: boolean; alone: boolean; role: Actor['role'] }

async function placesOf(tx: Db, userId: string): Promise<Place[]> {
  return rows<Place>(
    tx,
    sql`select w.id as "workspaceId", w.name, w.demo, m.role, not exists (
        select from members o where o.workspace_id = w.id and o.user_id <> m.user_id) as alone
      from members m join workspaces w on w.id = m.workspace_id where m.user_id = ${userId}::uuid order by w.id`,
  )
}

/** Returns the Pipes that were closed. */
async function leave(inTx: MailingRuntime & { db: Db }, session: Session, place: Place): Promise<string[]> {
  const { workspaceId, demo, alone, role } = place
  if (demo) throw new SluiceError('conflict', 'The demo workspace cannot be deleted while DEMO is on.')
  if (alone) return closeWorkspace(inTx.db, workspaceId, new Date(inTx.clock.now()))
  await removeMember(inTx, { ...session.actor, workspaceId, role }, session.userId)
  return []
}
