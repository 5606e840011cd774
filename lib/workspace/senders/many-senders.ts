import { and, asc, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, newSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import { nameField } from '../../platform/kernel/parse-input.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { replaceTokens, type rotateSenderInput } from './change-sender.ts'
import type { IssuedCredential, SenderRow } from './sender.ts'
import { assertRoom, findGroup, MOST_IN_GROUP } from './sender-groups.ts'

/** What is done to many Senders at once: either to all of them or to none. Tokens are only in the response. */

export const manySendersInput = z.strictObject({
  names: z
    .array(nameField)
    .min(1, 'must not be empty')
    .max(MOST_IN_GROUP, `must have at most ${MOST_IN_GROUP} entries`),
  /** The group that they join. */
  groupId: z.string().max(100).nullable().default(null),
})

/** How often a workspace may create many Senders at once. */
const PER_WORKSPACE = { burst: 20, refillMs: minutes(5) }

export async function createSenders(
  { db, clock }: CoreRuntime,
  actor: Actor,
  { names, groupId }: z.output<typeof manySendersInput>,
): Promise<IssuedCredential[]> {
  const { workspaceId } = actor
  const createdAt = new Date(clock.now())
  const made = names.map((name) => ({ id: uuidv7(clock.now()), name, token: newSecret('sk_') }))
  await db.transaction(async (tx) => {
    await takeFromLimit({ db: tx, clock }, `create:many Senders:${workspaceId}`, PER_WORKSPACE)
    if (groupId !== null) await assertRoom(tx, actor, groupId, names.length)
    await tx.insert(senders).values(
      made.map(({ id, name, token }) => {
        const secret = { tokenHash: hashSecret(token), tokenLast4: token.slice(-4) }
        return { id, workspaceId, name, groupId, ...secret, createdAt }
      }),
    )
    const detail = { senders: names.length, groupId }
    await recordAudit({ db: tx, clock }, actor, { action: 'sender.created_many', detail })
  })
  return made
}

export async function rotateGroup(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  { overlapDays }: z.output<typeof rotateSenderInput>,
): Promise<IssuedCredential[]> {
  return db.transaction(async (tx) => {
    const { name, members } = await lockMembers(tx, actor, id)
    const made = await replaceTokens({ db: tx, clock }, members, overlapDays)
    const detail = { senders: made.length, overlapDays }
    const entry = { action: 'sender_group.rotated', subjectId: id, subjectLabel: name, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
    return made
  })
}

/** Revokes all Senders in a group immediately and permanently, along with their tokens. Returns their number. */
export async function revokeGroup({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<number> {
  return db.transaction(async (tx) => {
    const { name, members } = await lockMembers(tx, actor, id)
    await tx
      .update(senders)
      .set({ revokedAt: new Date(clock.now()) })
      .where(and(eq(senders.groupId, id), isNull(senders.revokedAt)))
    const detail = { senders: members.length }
    const entry = { action: 'sender_group.revoked', subjectId: id, subjectLabel: name, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
    return members.length
  })
}

export const moveInput = z.strictObject({
  /** The group that the Senders join. Null to leave them without one. */
  groupId: z.string().max(100).nullable(),
})

/** Moves all Senders of a group to another one, or out of it. Returns the number of those that are not revoked. */
export async function moveGroup(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  { groupId }: z.output<typeof moveInput>,
): Promise<number> {
  if (groupId === id) throw new SluiceError('conflict', 'The Senders are already in this group.')
  return db.transaction(async (tx) => {
    // In a fixed order, so that two moves in opposite directions never deadlock.
    for (const one of [id, groupId].filter((one) => one !== null).sort()) await findGroup(tx, actor, one)
    const { name, members } = await lockMembers(tx, actor, id)
    if (groupId !== null) await assertRoom(tx, actor, groupId, members.length)
    await tx.update(senders).set({ groupId }).where(eq(senders.groupId, id))
    const detail = { senders: members.length, to: groupId }
    const entry = { action: 'sender_group.moved', subjectId: id, subjectLabel: name, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
    return members.length
  })
}

/** The Senders of a group that are not revoked. */
async function lockMembers(
  tx: Db,
  actor: Actor,
  id: string,
): Promise<{ name: string; members: Pick<SenderRow, 'id' | 'name'>[] }> {
  const { name } = await findGroup(tx, actor, id)
  const members = await tx
    .select({ id: senders.id, name: senders.name })
    .from(senders)
    .where(and(eq(senders.groupId, id), isNull(senders.revokedAt)))
    .orderBy(asc(senders.id))
    .for('update')
  return { name, members }
}
