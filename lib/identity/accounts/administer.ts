import { randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { members, secondFactors, users, workspaces } from '#drizzle/schema/index.ts'
import { rows } from '../../platform/db/database.ts'
import { StartError } from '../../platform/kernel/errors.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { LAST_SEEN, signOutEverywhere } from '../sessions/sessions.ts'
import { revokeKeys } from './account-keys.ts'
import { dropResetLinks } from './email-link.ts'
import { hashPassword } from './password.ts'
import { findUserByEmail, type UserRow } from './users.ts'

/** Implements `npm run admin -- account`, with which an operator manages accounts by email address. */

export type ListedUser = {
  email: string
  name: string | null
  /** Null for a user without a workspace. A user with several workspaces is listed once for each. */
  workspaceId: string | null
  createdAt: string
  lastSeenAt: string | null
  disabledAt: string | null
  usedBytes: number
  /** If null, FREE_TIER_BYTES applies. */
  limitBytes: number | null
}

export async function listUsers({ db, clock }: CoreRuntime): Promise<ListedUser[]> {
  const month = new Date(clock.now()).toISOString().slice(0, 7)
  return rows<ListedUser>(
    db,
    sql`select u.email, u.name, w.id as "workspaceId", u.created_at as "createdAt",
        ${LAST_SEEN} as "lastSeenAt", u.disabled_at as "disabledAt", coalesce(m.used_bytes, 0) as "usedBytes",
        w.transfer_limit_bytes as "limitBytes"
      from users u left join members on members.user_id = u.id left join workspaces w on w.id = members.workspace_id
        left join usage_months m on m.workspace_id = w.id and m.month = ${month}
      order by u.created_at, u.id`,
  )
}

/**
 * Ends the user's sessions and revokes the account keys that they created. Uploads continue, so the people who upload
 * through the user's backends are not affected.
 */
export function disableUser(runtime: CoreRuntime, email: string): Promise<void> {
  return change(runtime, email, 'user.disabled', async (inTx, user, places) => {
    await inTx.db
      .update(users)
      .set({ disabledAt: new Date(inTx.clock.now()) })
      .where(eq(users.id, user.id))
    await signOutEverywhere(inTx, user.id)
    for (const actor of places) await revokeKeys(inTx, actor, { madeBy: user.id })
    return places
  })
}

export function enableUser(runtime: CoreRuntime, email: string): Promise<void> {
  return change(runtime, email, 'user.enabled', async ({ db }, user, places) => {
    await db.update(users).set({ disabledAt: null }).where(eq(users.id, user.id))
    return places
  })
}

/** Sets a new password and signs out every session. */
export async function resetUser(runtime: CoreRuntime, email: string): Promise<{ password: string }> {
  const password = randomBytes(15).toString('base64url')
  const passwordHash = await hashPassword(password)
  await change(runtime, email, 'user.password_reset', async (inTx, user, places) => {
    await inTx.db.update(users).set({ passwordHash }).where(eq(users.id, user.id))
    await dropResetLinks(inTx.db, user.id)
    await signOutEverywhere(inTx, user.id)
    return places
  })
  return { password }
}

/** Removes the second factor of users who lost their authenticator and recovery codes, and signs out every session. */
export function dropSecondFactor(runtime: CoreRuntime, email: string): Promise<void> {
  return change(runtime, email, 'user.second_factor_dropped', async (inTx, user, places) => {
    await inTx.db.delete(secondFactors).where(eq(secondFactors.userId, user.id))
    await signOutEverywhere(inTx, user.id)
    return places
  })
}

/** If the limit is null, FREE_TIER_BYTES applies; 0 means unlimited. */
export function limitWorkspace(
  runtime: CoreRuntime,
  email: string,
  limitBytes: number | null,
): Promise<void> {
  return change(runtime, email, 'workspace.limit_changed', async ({ db }, _user, [first]) => {
    if (!first) throw new StartError(`${email} does not belong to a workspace.`)
    const here = eq(workspaces.id, first.workspaceId)
    await db.update(workspaces).set({ transferLimitBytes: limitBytes }).where(here)
    return [first]
  })
}

/** Returns the actors in whose audit logs the change is recorded. */
type Work = (inTx: CoreRuntime, user: UserRow, places: Actor[]) => Promise<Actor[]>

async function change({ db, clock }: CoreRuntime, email: string, action: string, work: Work): Promise<void> {
  await db.transaction(async (tx) => {
    const user = await findUserByEmail(tx, email)
    if (!user)
      throw new StartError(
        `There is no account for ${email}. \`npm run admin -- account list\` shows all accounts.`,
      )
    const joined = await tx
      .select({ workspaceId: members.workspaceId })
      .from(members)
      .where(eq(members.userId, user.id))
      .orderBy(members.createdAt)
    const by = { kind: 'system', id: null, label: 'sluice-server account', role: 'owner' } as const
    const noted = await work(
      { db: tx, clock },
      user,
      joined.map((place) => ({ ...place, ...by })),
    )
    for (const actor of noted)
      await recordAudit({ db: tx, clock }, actor, { action, subjectId: user.id, subjectLabel: user.email })
  })
}
