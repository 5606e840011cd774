import { sql } from 'drizzle-orm'
import { rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import type { ConfiguredRuntime } from '../../platform/runtime.ts'
import type { Actor } from '../audit/record-audit.ts'
import type { Role } from '../rights.ts'
import { notOfDemo } from '../suspension.ts'

/** Any signed-in user, with or without a workspace. */
export type Person = {
  /** The session's id. */
  id: string
  userId: string
  email: string
  name: string | null
  emailVerified: boolean
  hasPassword: boolean
  hasSecondFactor: boolean
  signedInAt: Date
}

export type Session = Person & {
  workspace: {
    id: string
    name: string
    demo: boolean
    inboxKey: string
    requiresSecondFactor: boolean
    /** Set while an operator has suspended the workspace. */
    suspendedReason: string | null
    /** Set if an owner has deleted the workspace, which can be restored until this time. */
    deleteAfter: Date | null
  }
  actor: Actor
}

/** How far a user's sign-in has progressed. Only in the first state is a workspace open. */
export type Standing =
  | { state: 'in'; session: Session }
  /** The user belongs to no workspace. */
  | { state: 'no_workspace'; person: Person }
  /** The user has a second factor, but has not entered its code in this session. */
  | { state: 'code_due'; person: Person }
  /** The workspace requires a second factor, but the user has none. */
  | { state: 'factor_due'; person: Person; workspace: Session['workspace'] }

const SEEN_EVERY_MS = minutes(5)

/** The session of a user with an open workspace. */
export async function readSession(runtime: ConfiguredRuntime, id: string): Promise<Session | undefined> {
  const standing = await readStanding(runtime, id)
  return standing?.state === 'in' ? standing.session : undefined
}

/**
 * Reads the session on each request, so that revoking it, ending a membership or changing a role takes effect at the
 * next request, on every node.
 */
export async function readStanding(runtime: ConfiguredRuntime, id: string): Promise<Standing | undefined> {
  const row = isUuid(id) ? await findSession(runtime, id) : undefined
  if (!row) return undefined
  await noteSeen(runtime, row)
  const person: Person = {
    id,
    userId: row.userId,
    email: row.email,
    name: row.name,
    emailVerified: row.emailVerified,
    hasPassword: row.hasPassword,
    hasSecondFactor: row.hasSecondFactor,
    signedInAt: new Date(row.createdAt),
  }
  if (row.hasSecondFactor && !row.gaveCode) return { state: 'code_due', person }
  if (!row.workspace) return { state: 'no_workspace', person }
  const { role, deleteAfter, ...rest } = row.workspace
  const workspace = { ...rest, deleteAfter: deleteAfter === null ? null : new Date(deleteAfter) }
  if (workspace.requiresSecondFactor && !row.hasSecondFactor)
    return { state: 'factor_due', person, workspace }
  const actor: Actor = {
    workspaceId: workspace.id,
    kind: 'user',
    id: row.userId,
    sessionId: id,
    label: row.email,
    role,
  }
  noteRequest({ workspaceId: workspace.id })
  return { state: 'in', session: { ...person, workspace, actor } }
}

type Found = Omit<Person, 'id' | 'signedInAt'> & {
  id: string
  createdAt: string
  seenAt: string
  gaveCode: boolean
  workspace: (Omit<Session['workspace'], 'deleteAfter'> & { role: Role; deleteAfter: string | null }) | null
}

/** Finds the session, with its chosen workspace or else the first workspace that the user joined. */
async function findSession({ db, clock, config }: ConfiguredRuntime, id: string): Promise<Found | undefined> {
  const [found] = await rows<Found>(
    db,
    sql`select s.id, u.id as "userId", u.email, u.name, u.email_verified_at is not null as "emailVerified",
        u.password_hash is not null as "hasPassword", f.user_id is not null as "hasSecondFactor",
        s.second_factor_at is not null as "gaveCode", s.created_at as "createdAt", s.last_seen_at as "seenAt",
        case when w.id is not null then json_build_object('id', w.id, 'name', w.name, 'demo', w.demo,
          'inboxKey', w.inbox_key, 'requiresSecondFactor', w.require_second_factor,
          'suspendedReason', case when w.suspended_at is not null then coalesce(w.suspended_reason, '') end, 'deleteAfter', w.delete_after, 'role', m.role) end as workspace
      from sessions s join users u on u.id = s.user_id
        left join second_factors f on f.user_id = u.id and f.enabled_at is not null
        left join members m on m.user_id = u.id and ${notOfDemo(config, sql`m.workspace_id`)}
        left join workspaces w on w.id = m.workspace_id
      where s.id = ${id}::uuid and s.revoked_at is null and u.disabled_at is null
        and s.expires_at > ${new Date(clock.now()).toISOString()}::timestamptz
      order by coalesce(m.workspace_id = s.workspace_id, false) desc, m.created_at, m.workspace_id
      limit 1`,
  )
  return found
}

async function noteSeen({ db, clock }: ConfiguredRuntime, { id, seenAt }: Found): Promise<void> {
  const seenLongAgo = clock.now() - SEEN_EVERY_MS
  if (new Date(seenAt).getTime() >= seenLongAgo) return
  await db.execute(sql`
    update sessions set last_seen_at = ${new Date(clock.now()).toISOString()}::timestamptz
    where id = ${id}::uuid and last_seen_at < ${new Date(seenLongAgo).toISOString()}::timestamptz`)
}
