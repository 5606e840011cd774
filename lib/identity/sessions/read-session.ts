import { and, eq, gt, isNull, lt, sql } from 'drizzle-orm'
import { members, sessions, users, workspaces } from '#drizzle/schema/index.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Actor } from '../audit/record-audit.ts'
import { notOfDemo } from '../not-of-demo.ts'

export type Session = {
  id: string
  userId: string
  email: string
  name: string | null
  emailVerified: boolean
  hasPassword: boolean
  signedInAt: Date
  workspace: { id: string; name: string; demo: boolean; inboxKey: string }
  actor: Actor
}

const SEEN_EVERY_MS = minutes(5)

/** Asked for each page: a session that was revoked is over with the next request. */
export async function readSession(
  { db, clock, config }: Pick<Runtime, 'db' | 'clock' | 'config'>,
  id: string,
): Promise<Session | undefined> {
  if (!isUuid(id)) return undefined
  const now = new Date(clock.now())
  const [found] = await db
    .select({ session: sessions, user: users, workspace: workspaces })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .innerJoin(members, eq(members.userId, users.id))
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(
      and(
        eq(sessions.id, id),
        isNull(sessions.revokedAt),
        gt(sessions.expiresAt, now),
        isNull(users.disabledAt),
        notOfDemo(config, sql`${workspaces.id}`),
      ),
    )
    .limit(1)
  if (!found) return undefined
  const { session, user, workspace } = found
  const seenLongAgo = new Date(clock.now() - SEEN_EVERY_MS)
  if (session.lastSeenAt < seenLongAgo) {
    const stale = and(eq(sessions.id, id), lt(sessions.lastSeenAt, seenLongAgo))
    await db.update(sessions).set({ lastSeenAt: now }).where(stale)
  }
  return {
    id,
    userId: user.id,
    email: user.email,
    name: user.name,
    emailVerified: user.emailVerifiedAt !== null,
    hasPassword: user.passwordHash !== null,
    signedInAt: session.createdAt,
    workspace: {
      id: workspace.id,
      name: workspace.name,
      demo: workspace.demo,
      inboxKey: workspace.inboxKey,
    },
    actor: { workspaceId: workspace.id, kind: 'user', id: user.id, label: user.email },
  }
}
