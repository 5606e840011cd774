import { and, eq, gt } from 'drizzle-orm'
import { tokens } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'

/** Lets a token run out before its time, to see what an uploader does then. Unlike a revoked one it keeps its uploads. */
export async function expireToken(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<void> {
  if (!isUuid(id)) throw new SluiceError('not_found', 'There is no such token.')
  const now = new Date(clock.now())
  await db
    .update(tokens)
    .set({ expiresAt: now })
    .where(and(eq(tokens.id, id), eq(tokens.workspaceId, actor.workspaceId), gt(tokens.expiresAt, now)))
}
