import { and, eq } from 'drizzle-orm'
import { sessions } from '#drizzle/schema/index.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Session } from './read-session.ts'
import { tellStreams } from './tell-streams.ts'

/** One of the user's own, the present one too. */
export async function revokeSession(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  { userId }: Pick<Session, 'userId'>,
  id: string,
): Promise<void> {
  const revoked = isUuid(id)
    ? await db
        .update(sessions)
        .set({ revokedAt: new Date(clock.now()) })
        .where(and(eq(sessions.id, id), eq(sessions.userId, userId)))
        .returning({ id: sessions.id })
    : []
  if (revoked.length === 0) throw new SluiceError('not_found', 'There is no such session.')
  await tellStreams(db, userId)
}
