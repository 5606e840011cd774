import { randomBytes } from 'node:crypto'
import { and, asc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { members, sessions, workspaces } from '#drizzle/schema/index.ts'
import { type Db, LIVE_CHANNEL } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid, uuidv7 } from '../../platform/kernel/ids.ts'
import { nameField } from '../../platform/kernel/parse-input.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { ConfiguredRuntime, CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type Actor, type AuditEntry, recordAudit } from '../audit/record-audit.ts'
import { assertMay, type Role } from '../rights.ts'
import type { Person, Session } from '../sessions/read-session.ts'
import { notOfDemo } from '../suspension.ts'

/** Lists, opens, creates and changes a user's workspaces. */
export const workspaceInput = z.strictObject({ name: nameField })

export const workspaceChanges = z.strictObject({
  name: nameField.optional(),
  requireSecondFactor: z.boolean().optional(),
})
export const workspaceAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  /** Members without a second factor must set one up before they can enter. Account keys do not need one. */
  requireSecondFactor: z.boolean(),
})

export type ListedWorkspace = {
  id: string
  name: string
  role: Role
  members: number
  deleteAfter: string | null
}

const PER_USER = { burst: 5, refillMs: 3_600_000 }
const MOST = 500

export async function listWorkspaces(
  { db, config }: ConfiguredRuntime,
  userId: string,
): Promise<ListedWorkspace[]> {
  const found = await db
    .select({
      id: workspaces.id,
      name: workspaces.name,
      role: members.role,
      members: sql<number>`(select count(*)::int from members o where o.workspace_id = ${workspaces.id})`,
      deleteAfter: workspaces.deleteAfter,
    })
    .from(members)
    .innerJoin(workspaces, eq(workspaces.id, members.workspaceId))
    .where(and(eq(members.userId, userId), notOfDemo(config, sql`${workspaces.id}`)))
    .orderBy(asc(members.createdAt), asc(workspaces.id))
    .limit(MOST)
  return found.map((row) => ({ ...row, deleteAfter: row.deleteAfter?.toISOString() ?? null }))
}

/** Takes effect in every tab of this session at its next request. */
export async function openWorkspace(
  { db }: Pick<Runtime, 'db'>,
  { id, userId }: Pick<Person, 'id' | 'userId'>,
  workspaceId: string,
): Promise<void> {
  const member = isUuid(workspaceId)
    ? await db
        .select({ role: members.role })
        .from(members)
        .where(and(eq(members.workspaceId, workspaceId), eq(members.userId, userId)))
    : []
  if (member.length === 0) throw new SluiceError('not_found', 'There is no such workspace.')
  await db.update(sessions).set({ workspaceId }).where(eq(sessions.id, id))
}

/** Creates another workspace owned by the user, and opens it in their session. */
export async function createWorkspace(
  runtime: ConfiguredRuntime,
  person: Person,
  { name }: z.output<typeof workspaceInput>,
): Promise<void> {
  const { config, clock } = runtime
  if (config.signUp === 'closed')
    throw new SluiceError(
      'forbidden',
      'Sign-up is disabled on this server. Ask your administrator to create a workspace.',
    )
  await takeFromLimit(runtime, `workspaces:${person.userId}`, PER_USER)
  await runtime.db.transaction(async (tx) => {
    const user = { id: person.userId, email: person.email }
    const workspaceId = await insertWorkspace({ db: tx, clock }, user, { name })
    await tx.update(sessions).set({ workspaceId }).where(eq(sessions.id, person.id))
    const actor: Actor = { workspaceId, kind: 'user', id: user.id, label: user.email, role: 'owner' }
    await recordAudit({ db: tx, clock }, actor, { action: 'workspace.created', subjectLabel: name })
  })
}

export async function insertWorkspace(
  { db, clock }: { db: Db; clock: Runtime['clock'] },
  owner: { id: string },
  { name, demo = false }: { name: string; demo?: boolean | undefined },
): Promise<string> {
  const createdAt = new Date(clock.now())
  const id = uuidv7(clock.now())
  const inboxKey = randomBytes(24).toString('base64url')
  await db.insert(workspaces).values({ id, name, demo, inboxKey, createdAt })
  await db.insert(members).values({ workspaceId: id, userId: owner.id, role: 'owner', createdAt })
  return id
}

export async function showWorkspace(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
): Promise<z.input<typeof workspaceAnswer>> {
  const { id, name, requireSecondFactor } = workspaces
  const here = eq(workspaces.id, workspaceId)
  const [found] = await db.select({ id, name, requireSecondFactor }).from(workspaces).where(here)
  return found!
}

/** Omitted settings stay unchanged. */
export async function changeWorkspace(
  { db, clock }: CoreRuntime,
  actor: Actor,
  changes: z.output<typeof workspaceChanges>,
): Promise<z.input<typeof workspaceAnswer>> {
  const here = eq(workspaces.id, actor.workspaceId)
  return db.transaction(async (tx) => {
    await tx.select({ id: workspaces.id }).from(workspaces).where(here).for('update')
    const before = await showWorkspace({ db: tx }, actor)
    const after = { ...before, ...changes }
    const demands = after.requireSecondFactor
    if (before.requireSecondFactor && !demands) assertMay(actor, 'own')
    const { name, requireSecondFactor } = after
    await tx.update(workspaces).set({ name, requireSecondFactor }).where(here)
    const note = (entry: AuditEntry) => recordAudit({ db: tx, clock }, actor, entry)
    if (name !== before.name) await note({ action: 'workspace.renamed', subjectLabel: name })
    if (demands === before.requireSecondFactor) return after
    await note({ action: demands ? 'second_factor.required' : 'second_factor.not_required' })
    await tx.execute(sql`select pg_notify(${LIVE_CHANNEL}, ${actor.workspaceId})`)
    return after
  })
}

/** A user who requires a second factor must have one, or they would be the first to be locked out. */
export async function requireSecondFactor(
  runtime: CoreRuntime,
  { actor, hasSecondFactor }: Pick<Session, 'actor' | 'hasSecondFactor'>,
  required: boolean,
): Promise<void> {
  if (required && !hasSecondFactor)
    throw new SluiceError('conflict', 'Set up your own second factor under Settings, Security first.')
  await changeWorkspace(runtime, actor, { requireSecondFactor: required })
}
