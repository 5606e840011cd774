import { and, desc, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import { sessions, users } from '#drizzle/schema/index.ts'
import { type Db, LIVE_CHANNEL } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid, uuidv7 } from '../../platform/kernel/ids.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import type { Session } from './read-session.ts'

/** The rows behind the session cookies: created at sign-in, listed for their user, and revoked from any session. */
export const SESSION_MS = days(30)
const MAX_USER_AGENT = 300

export type Visitor = { userAgent: string | null; address: string | null }

export type SessionOpening = {
  /** The session's open workspace, if it is not the user's first one. */
  workspaceId?: string | null
  /** The hash of the password that was just verified. The session is refused if it has changed since. */
  passwordHash?: string
}

export async function createSession(
  { db, clock }: CoreRuntime,
  userId: string,
  { userAgent, address }: Visitor,
  { workspaceId = null, passwordHash }: SessionOpening = {},
): Promise<{ id: string; expiresAt: Date }> {
  const now = new Date(clock.now())
  const session = { id: uuidv7(clock.now()), expiresAt: new Date(clock.now() + SESSION_MS) }
  const cleaned = userAgent?.replace(/\p{Cc}/gu, ' ').slice(0, MAX_USER_AGENT) ?? null
  await db.transaction(async (tx) => {
    if (passwordHash !== undefined) await assertUnchanged(tx, userId, passwordHash)
    await tx.insert(sessions).values({
      ...session,
      userId,
      workspaceId,
      userAgent: cleaned,
      address,
      createdAt: now,
      lastSeenAt: now,
    })
    await tx
      .update(users)
      .set({ enteredAt: now })
      .where(and(eq(users.id, userId), isNull(users.enteredAt)))
  })
  return session
}

/**
 * Changing a password and taking over or disabling an account update the user's row first and then end the sessions.
 * The row lock orders this session either before the update, so that it is ended, or after it, so that it is refused.
 */
async function assertUnchanged(tx: Db, userId: string, passwordHash: string): Promise<void> {
  const [user] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), eq(users.passwordHash, passwordHash), isNull(users.disabledAt)))
    .for('update')
  if (!user) throw new SluiceError('sign_in_failed', 'The password was just changed. Sign in again.')
}

/**
 * SQL for when the user `u` was last seen: in their sessions, in sessions since pruned, or at least at their first
 * sign-in. Null if they have never signed in.
 */
export const LAST_SEEN = sql`coalesce(greatest(u.last_seen_at,
  (select max(s.last_seen_at) from sessions s where s.user_id = u.id)), u.entered_at)`

export type ListedSession = {
  id: string
  userAgent: string | null
  address: string | null
  createdAt: string
  lastSeenAt: string
  /** Whether this is the session making the request. */
  current: boolean
}

const MOST = 100

export async function listSessions({ db, clock }: CoreRuntime, session: Session): Promise<ListedSession[]> {
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

/** Revokes one of the user's own sessions, which may be the current one. */
export async function revokeSession(
  { db, clock }: CoreRuntime,
  { userId }: Pick<Session, 'userId'>,
  id: string,
): Promise<void> {
  const revokedAt = new Date(clock.now())
  const revoked = isUuid(id)
    ? await db
        .update(sessions)
        .set({ revokedAt })
        .where(and(eq(sessions.id, id), eq(sessions.userId, userId)))
        .returning({ id: sessions.id })
    : []
  if (revoked.length === 0) throw new SluiceError('not_found', 'There is no such session.')
  await tellStreams(db, userId)
}

export async function signOutEverywhere(
  { db, clock }: CoreRuntime,
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

/** Makes the user's open streams check immediately whether their session still exists. */
export async function tellStreams(db: Db, userId: string): Promise<void> {
  await db.execute(sql`
    select pg_notify(${LIVE_CHANNEL}, workspace_id::text) from members where user_id = ${userId}::uuid`)
}
