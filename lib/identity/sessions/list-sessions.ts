import { and, desc, eq, gt, isNull } from 'drizzle-orm'
import { sessions } from '#drizzle/schema/index.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Session } from './read-session.ts'

export type ListedSession = {
  id: string
  userAgent: string | null
  address: string | null
  createdAt: string
  lastSeenAt: string
  /** The one that asks. */
  current: boolean
}

const MOST = 100

export async function listSessions(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  session: Session,
): Promise<ListedSession[]> {
  const rows = await db
    .select()
    .from(sessions)
    .where(
      and(
        eq(sessions.userId, session.userId),
        isNull(sessions.revokedAt),
        gt(sessions.expiresAt, new Date(clock.now())),
      ),
    )
    .orderBy(desc(sessions.lastSeenAt))
    .limit(MOST)
  return rows.map((row) => ({
    id: row.id,
    userAgent: row.userAgent,
    address: row.address,
    createdAt: row.createdAt.toISOString(),
    lastSeenAt: row.lastSeenAt.toISOString(),
    current: row.id === session.id,
  }))
}
