import { and, eq, isNull, ne } from 'drizzle-orm'
import { sessions } from '#drizzle/schema/index.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { tellStreams } from './tell-streams.ts'

export async function signOutEverywhere(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  userId: string,
  { except }: { except?: string } = {},
): Promise<void> {
  await db
    .update(sessions)
    .set({ revokedAt: new Date(clock.now()) })
    .where(
      and(
        eq(sessions.userId, userId),
        isNull(sessions.revokedAt),
        except ? ne(sessions.id, except) : undefined,
      ),
    )
  await tellStreams(db, userId)
}
