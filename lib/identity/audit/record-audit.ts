import { eq, sql } from 'drizzle-orm'
import { auditLog, members } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import type { Role } from '../rights.ts'

/** The user, key, operator or system that performs an operation, and the workspace that it is limited to. */
export type Actor = {
  workspaceId: string
  kind: 'user' | 'account_key' | 'operator' | 'system'
  id: string | null
  /** The session that authenticated a user. */
  sessionId?: string
  /** Their name in the audit log: an email address, or the name of an account key. */
  label: string
  /**
   * Determines what the actor may do; see `may`. For an account key, it is the lower of its scope and its creator's
   * role.
   */
  role: Role
}

/** The kinds of audited items. Every action's name starts with one of these. */
export const AUDIT_KINDS = {
  account: 'Accounts',
  account_key: 'Account keys',
  alerts: 'Alerts',
  batch: 'Batches',
  data_store: 'Data Stores',
  delivery: 'Deliveries',
  file: 'Files',
  hook: 'Decision hooks',
  invitation: 'Invitations',
  member: 'Members',
  password: 'Passwords',
  pipe: 'Pipes',
  profile: 'Profiles',
  second_factor: 'Second factors',
  sender: 'Senders',
  sender_group: 'Groups of Senders',
  sign_in: 'Sign-in providers',
  token: 'Upload tokens',
  upload_link: 'Upload links',
  user: 'Access changes made with sluice-server account',
  webhook: 'Webhooks',
  workspace: 'Workspace',
}

export type AuditEntry = {
  /** Such as `pipe.created`. */
  action: string
  subjectId?: string
  subjectLabel?: string
  /** The names of changed fields, and plain values. Must never contain a secret. */
  detail?: Record<string, unknown>
}

/** Call this in the transaction of the change itself. It throws if the account has changed hands in the meantime. */
export async function recordAudit(
  { db, clock }: { db: Db; clock: Clock },
  actor: Actor,
  entry: AuditEntry,
): Promise<void> {
  await assertSameHands(db, actor)
  await db.insert(auditLog).values({
    id: uuidv7(clock.now()),
    workspaceId: actor.workspaceId,
    actorKind: actor.kind,
    actorId: actor.id,
    actorLabel: actor.label,
    clientAddress: currentRequest()?.client ?? null,
    createdAt: new Date(clock.now()),
    ...entry,
  })
}

/** Records a change to how a user signs in, in every workspace that they belong to. */
export async function recordForPerson(
  { db, clock }: { db: Db; clock: Clock },
  { id: sessionId, userId, email }: { id: string; userId: string; email: string },
  entry: AuditEntry,
): Promise<void> {
  const places = await db
    .select({ workspaceId: members.workspaceId, role: members.role })
    .from(members)
    .where(eq(members.userId, userId))
  const subject = { subjectId: userId, subjectLabel: email }
  for (const place of places) {
    const actor: Actor = { ...place, kind: 'user', id: userId, sessionId, label: email }
    await recordAudit({ db, clock }, actor, { ...subject, ...entry })
  }
}

/**
 * The lock that prevents a request admitted before its account changed hands from writing anything afterwards. Such a
 * request never waits for the lock, so it cannot deadlock with the transfer, which waits until all requests that hold
 * the lock have committed.
 */
const lockOf = (workspaceId: string) => sql`hashtextextended(${`change-of-hands:${workspaceId}`}, 0)`

/**
 * Acquires the lock, which is released when the transaction ends. Call this before locking any row: afterwards, all
 * writes by requests that held the lock are committed and visible.
 */
export async function lockChangeOfHands(tx: Db, workspaceId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${lockOf(workspaceId)})`)
}

/**
 * Throws if the actor's session or key has lost its account in the meantime. Actors without a session or key are not
 * checked.
 */
export async function assertSameHands(tx: Db, actor: Actor): Promise<void> {
  const lost = lostSince(actor)
  if (!lost) return
  const { workspaceId } = actor
  const [lock] = await rows<{ taken: boolean }>(
    tx,
    sql`select pg_try_advisory_xact_lock_shared(${lockOf(workspaceId)}) as taken`,
  )
  // This is a separate statement, since it has to see everything committed before the lock was acquired.
  if (lock!.taken && (await rows(tx, lost)).length === 0) return
  throw actor.kind === 'account_key'
    ? new SluiceError('account_key_invalid', 'This account key was revoked.')
    : new SluiceError('signed_out', 'This session has ended. Sign in again.')
}

function lostSince({ kind, id, sessionId, workspaceId }: Actor) {
  if (sessionId !== undefined)
    return sql`select where not exists (
      select from sessions where id = ${sessionId}::uuid and revoked_at is null)`
  if (kind !== 'account_key') return undefined
  return sql`select from turned_off where workspace_id = ${workspaceId}::uuid and kind = 'account_key' and subject_id = ${id}::uuid`
}
