import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { pipes, senderGroups, senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid, uuidv7 } from '../../platform/kernel/ids.ts'
import { nameField, toAnswer } from '../../platform/kernel/parse-input.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { isSilent, limitsInput } from './limits.ts'
import { g, s } from './read-senders.ts'
import { type GroupRow, limitsAnswer } from './sender.ts'

/** Groups of Senders, such as the cameras at a site, with the limits of those that have none of their own. */

const MOST_GROUPS = 200
/** The maximum number of Senders in a group that are not revoked, so that actions on a group stay bounded. */
export const MOST_IN_GROUP = 1000

const name = z.strictObject({ name: nameField })
export const groupInput = name.extend(limitsInput.partial().shape)
export const groupChanges = name.extend(limitsInput.shape).partial()

export const groupAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  ...limitsAnswer.shape,
  /** Those that are not revoked. */
  senderCount: z.int(),
  silentCount: z.int(),
  refusedCount: z.int(),
  transferredBytes: z.int(),
  lastSeenAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})
export type SenderGroup = z.output<typeof groupAnswer>

export async function showGroup({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<SenderGroup> {
  const [group] = isUuid(id) ? await listGroups({ db, clock }, actor, id) : []
  if (!group) throw noGroup()
  return group
}

/** In order of their names. */
export async function listGroups(
  { db, clock }: CoreRuntime,
  { workspaceId }: Actor,
  id?: string,
): Promise<SenderGroup[]> {
  const found = await db
    .select({
      group: g,
      senderCount: sql`count(s.id) filter (where s.revoked_at is null)`.mapWith(Number),
      silentCount: sql`count(*) filter (where ${isSilent(clock.now())})`.mapWith(Number),
      refusedCount: sql`coalesce(sum(s.refused_count), 0)`.mapWith(Number),
      transferredBytes: sql`coalesce(sum(s.transferred_bytes), 0)`.mapWith(Number),
      lastSeenAt: sql<Date | string | null>`max(greatest(s.last_used_at, s.last_file_at))`,
    })
    .from(g)
    .leftJoin(s, eq(s.groupId, g.id))
    .where(and(eq(g.workspaceId, workspaceId), id ? eq(g.id, id) : undefined))
    .groupBy(g.id)
    .orderBy(asc(g.name))
  return found.map(({ group, lastSeenAt, ...figures }) =>
    toAnswer(groupAnswer, { ...group, ...figures, lastSeenAt: lastSeenAt && new Date(lastSeenAt) }),
  )
}

export async function createGroup(
  { db, clock }: CoreRuntime,
  actor: Actor,
  { name, ...limits }: z.output<typeof groupInput>,
): Promise<SenderGroup> {
  const { workspaceId } = actor
  const id = uuidv7(clock.now())
  return db.transaction(async (tx) => {
    await assertPipesExist(tx, actor, limits.pipeIds)
    if ((await tx.$count(senderGroups, eq(senderGroups.workspaceId, workspaceId))) >= MOST_GROUPS)
      throw new SluiceError('conflict', `A workspace can have at most ${MOST_GROUPS} groups of Senders.`)
    const row = { id, workspaceId, name, ...limits, createdAt: new Date(clock.now()) }
    const made = await tx.insert(senderGroups).values(row).onConflictDoNothing().returning()
    if (made.length === 0) throw nameTaken()
    const entry = { action: 'sender_group.created', subjectId: id, subjectLabel: name, detail: limits }
    await recordAudit({ db: tx, clock }, actor, entry)
    return showGroup({ db: tx, clock }, actor, id)
  })
}

/** Changed limits apply from the next request, also to open sessions. */
export async function changeGroup(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  changes: z.output<typeof groupChanges>,
): Promise<SenderGroup> {
  return db.transaction(async (tx) => {
    const { name } = await findGroup(tx, actor, id)
    await assertPipesExist(tx, actor, changes.pipeIds)
    const { name: wanted = name } = changes
    const [other] = await tx
      .select({ id: senderGroups.id })
      .from(senderGroups)
      .where(and(eq(senderGroups.workspaceId, actor.workspaceId), eq(senderGroups.name, wanted)))
    if (other && other.id !== id) throw nameTaken()
    await tx
      .update(senderGroups)
      .set({ ...changes, name: wanted })
      .where(eq(senderGroups.id, id))
    const entry = { action: 'sender_group.changed', subjectId: id, subjectLabel: wanted, detail: changes }
    await recordAudit({ db: tx, clock }, actor, entry)
    return showGroup({ db: tx, clock }, actor, id)
  })
}

/** A group with Senders stays, because they would lose its limits without anyone having decided so. */
export async function deleteGroup({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const { name } = await findGroup(tx, actor, id)
    if ((await inGroup(tx, id)) > 0)
      throw new SluiceError('conflict', 'This group has Senders. Move or revoke them first.')
    await tx.update(senders).set({ groupId: null }).where(eq(senders.groupId, id))
    await tx.delete(senderGroups).where(eq(senderGroups.id, id))
    const entry = { action: 'sender_group.deleted', subjectId: id, subjectLabel: name }
    await recordAudit({ db: tx, clock }, actor, entry)
  })
}

/** Locks the group: it can neither be deleted nor filled by others until the transaction ends. */
export async function findGroup(tx: Db, { workspaceId }: Actor, id: string): Promise<GroupRow> {
  const isIt = and(eq(senderGroups.id, id), eq(senderGroups.workspaceId, workspaceId))
  const [row] = isUuid(id) ? await tx.select().from(senderGroups).where(isIt).for('update') : []
  if (!row) throw noGroup()
  return row
}

/** Throws unless `more` Senders fit into the group. */
export async function assertRoom(tx: Db, actor: Actor, id: string, more: number): Promise<void> {
  await findGroup(tx, actor, id)
  if ((await inGroup(tx, id)) + more > MOST_IN_GROUP)
    throw new SluiceError('conflict', `A group can have at most ${MOST_IN_GROUP} Senders. Use another group.`)
}

const inGroup = (tx: Db, id: string) =>
  tx.$count(senders, and(eq(senders.groupId, id), isNull(senders.revokedAt)))

/** A deleted Pipe may stay in a list: without it, the list might become empty, which means no limit. */
export async function assertPipesExist(
  db: Db,
  { workspaceId }: Actor,
  pipeIds: string[] | null | undefined,
): Promise<void> {
  if (!pipeIds) return
  const found = await db
    .select({ id: pipes.id })
    .from(pipes)
    .where(and(inArray(pipes.id, pipeIds), eq(pipes.workspaceId, workspaceId)))
  const missing = pipeIds.find((id) => !found.some((pipe) => pipe.id === id))
  if (missing !== undefined)
    throw invalidRequest([
      { field: 'pipeIds', message: `must be Pipes of this workspace: ${missing} is not` },
    ])
}

const noGroup = () => new SluiceError('not_found', 'There is no such group of Senders.')
const nameTaken = () => new SluiceError('conflict', 'There is already a group with this name.')
