import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { accountKeys, files, pipes, senders, users, workspaces } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Session } from '../sessions/read-session.ts'
import { assertOwner } from './assert-owner.ts'

export const accountDeletion = z.strictObject({
  email: z.string(),
  password: z.string().max(1000).default(''),
})

/**
 * The user goes at once, with every session, key and token; what is under way is canceled. The workspace has
 * nobody any more, and a sweep removes it when its buckets are cleared of unfinished parts. Objects stay.
 */
export async function deleteAccount(
  runtime: Pick<Runtime, 'db' | 'clock'>,
  session: Session,
  { email, password }: z.output<typeof accountDeletion>,
  /** Passed in, since uploads stand above accounts. */
  cancelUploads: (pipeId: string) => Promise<number>,
): Promise<void> {
  if (session.workspace.demo) throw new SluiceError('conflict', 'The demo workspace stays while DEMO is on.')
  if (email.trim().toLowerCase() !== session.email.toLowerCase()) {
    throw invalidRequest([{ field: 'email', message: 'is not that of this account' }])
  }
  await assertOwner(runtime, session, password, { field: 'password', message: 'is wrong' })
  const { db, clock } = runtime
  const { id: workspaceId } = session.workspace
  const owned = await db.transaction(async (tx) => {
    const now = new Date(clock.now())
    await tx.update(accountKeys).set({ revokedAt: now }).where(eq(accountKeys.workspaceId, workspaceId))
    await tx.update(senders).set({ revokedAt: now }).where(eq(senders.workspaceId, workspaceId))
    await tx.delete(users).where(eq(users.id, session.userId))
    return tx
      .update(pipes)
      .set({ deletedAt: now, sourceHttp: false })
      .where(eq(pipes.workspaceId, workspaceId))
      .returning({ id: pipes.id })
  })
  for (const { id } of owned) await cancelUploads(id)
}

/** Workspaces that nobody belongs to, once nothing of them is left to clear or to complete. */
export async function removeLeftWorkspaces(db: Db): Promise<number> {
  const left = await rows<{ id: string }>(
    db,
    sql`select w.id from ${workspaces} w
    where not w.demo and not exists (select from members m where m.workspace_id = w.id)
      and not exists (
        select from ${files} f where f.workspace_id = w.id and f.status in ('uploading', 'transferring'))
      and not exists (
        select from files f join file_destinations d on d.file_id = f.id
        where f.workspace_id = w.id and f.status in ('failed', 'expired', 'canceled') and d.abort_pending)
    limit 1`,
  )
  for (const { id } of left) await db.delete(workspaces).where(eq(workspaces.id, id))
  return left.length
}
