import { and, eq, gt, isNull } from 'drizzle-orm'
import { sessions } from '#drizzle/schema/index.ts'
import type { Runtime } from '../../platform/runtime.ts'

/** For what outlives the request that read the session. */
export async function isSessionOpen(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  id: string,
): Promise<boolean> {
  const open = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(eq(sessions.id, id), isNull(sessions.revokedAt), gt(sessions.expiresAt, new Date(clock.now()))),
    )
  return open.length > 0
}
