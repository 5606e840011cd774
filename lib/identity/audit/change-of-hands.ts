import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Actor } from './record-audit.ts'

/**
 * Keeps a request that was let in before its account changed hands from writing anything after. Such a request never waits for
 * the lock, so it cannot deadlock with the change of hands, which waits until those that have it have committed.
 */
const lockOf = (workspaceId: string) => sql`hashtextextended(${`change-of-hands:${workspaceId}`}, 0)`

/** Until the transaction ends. Take it before any row: what others have written by then is committed and can be read. */
export async function lockChangeOfHands(tx: Db, workspaceId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${lockOf(workspaceId)})`)
}

/** Refuses a session or key that lost its account meanwhile. An actor that has neither was not let in by one. */
export async function assertSameHands(tx: Db, actor: Actor): Promise<void> {
  const lost = lostSince(actor)
  if (!lost) return
  const { workspaceId } = actor
  const [lock] = await rows<{ taken: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock_shared(${lockOf(workspaceId)}) as taken`,
  )
  // A statement of its own: it has to see what was committed before the lock was taken.
  if (lock!.taken && (await rows(tx, lost)).length === 0) return
  throw actor.kind === 'account_key'
    ? new SluiceError('account_key_invalid', 'This account key was revoked.')
    : new SluiceError('signed_out', 'This session was ended. Sign in again.')
}

function lostSince({ kind, id, sessionId, workspaceId }: Actor) {
  if (sessionId !== undefined)
    return sql`select where not exists (
      select from sessions where id = ${sessionId}::uuid and revoked_at is null)`
  if (kind !== 'account_key') return undefined
  return sql`select from turned_off where workspace_id = ${workspaceId}::uuid and kind = 'account_key' and subject_id = ${id}::uuid`
}
