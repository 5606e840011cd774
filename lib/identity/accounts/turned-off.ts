import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm'
import { z } from 'zod'
import {
  accountKeys,
  dataStores,
  identities,
  invitations,
  members,
  pipeHooks,
  pipes,
  secondFactors,
  senders,
  TURNED_OFF_KINDS,
  type TurnedOffKind,
  turnedOff,
  webhookOutputs,
  workspaces,
} from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type Actor, lockChangeOfHands, recordAudit } from '../audit/record-audit.ts'
import { signOutEverywhere, tellStreams } from '../sessions/sessions.ts'
import { lockWorkspace } from '../workspaces/members.ts'

export type TurnedOffThing = { kind: TurnedOffKind; id: string; name: string }

/**
 * Turns off everything in an account that was used before its address was verified: whoever used it may not be the
 * address's owner, and may have set a trap for the owner. Provider accounts and sessions no longer grant access, keys
 * and Senders (with every token they issued) are revoked, webhooks and decision hooks are off, Data Stores accept no
 * uploads, and members who were added are removed. The owner sees the list and may switch each item on again. Call this
 * in the transaction in which the owner verifies the address.
 */
export async function turnOutStrangers(runtime: CoreRuntime, userId: string): Promise<TurnedOffThing[]> {
  const { db } = runtime
  const workspaceIds = await ownWorkspaces(db, userId)
  for (const workspaceId of workspaceIds) await lockChangeOfHands(db, workspaceId)
  // As for every change of members and invitations.
  for (const workspaceId of workspaceIds) await lockWorkspace(db, workspaceId)
  await db.delete(identities).where(eq(identities.userId, userId))
  await db.delete(secondFactors).where(eq(secondFactors.userId, userId))
  const things: TurnedOffThing[] = []
  for (const workspaceId of workspaceIds) {
    await letNobodyElseIn(runtime, workspaceId, userId)
    things.push(...(await turnOffWorkspace(runtime, workspaceId)))
  }
  if (things.length > 0) await tellStreams(db, userId)
  return things
}

/** The workspaces that the user created. Workspaces that they were invited to belong to other people. */
async function ownWorkspaces(db: Db, userId: string): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select m.workspace_id as id from members m where m.user_id = ${userId}::uuid and m.role = 'owner'
      and not exists (select from members o where o.workspace_id = m.workspace_id and o.created_at < m.created_at)
      order by m.workspace_id`,
  )
  return found.map(({ id }) => id)
}

async function letNobodyElseIn(runtime: CoreRuntime, workspaceId: string, userId: string): Promise<void> {
  const { db } = runtime
  await db.delete(invitations).where(eq(invitations.workspaceId, workspaceId))
  const guests = await db
    .delete(members)
    .where(and(eq(members.workspaceId, workspaceId), ne(members.userId, userId)))
    .returning({ userId: members.userId })
  for (const guest of guests) await signOutEverywhere(runtime, guest.userId)
}

const TURNED_OFF: Record<TurnedOffKind, string> = {
  account_key: 'account_key.revoked',
  sender: 'sender.revoked',
  webhook: 'webhook.turned_off',
  hook: 'hook.turned_off',
  data_store: 'data_store.turned_off',
}
const REASON = 'The account changed hands.'

async function turnOffWorkspace(runtime: CoreRuntime, workspaceId: string): Promise<TurnedOffThing[]> {
  const { db, clock } = runtime
  const now = new Date(clock.now())
  // The stranger may have muted alerts that would expose them, and the owner has no second factor yet.
  const free = { mutedAlerts: [], requireSecondFactor: false }
  await db.update(workspaces).set(free).where(eq(workspaces.id, workspaceId))
  const things = await turnOffAll(db, workspaceId, now)
  if (things.length === 0) return []
  const rows = things.map(({ kind, id }) => ({ workspaceId, kind, subjectId: id, turnedOffAt: now }))
  await db
    .insert(turnedOff)
    .values(rows)
    .onConflictDoUpdate({
      target: [turnedOff.workspaceId, turnedOff.kind, turnedOff.subjectId],
      set: { turnedOffAt: now },
    })
  const actor: Actor = { workspaceId, kind: 'system', id: null, label: 'Sluice', role: 'owner' }
  for (const { kind, id, name } of things) {
    const entry = { action: TURNED_OFF[kind], subjectId: id, subjectLabel: name, detail: { reason: REASON } }
    await recordAudit(runtime, actor, entry)
  }
  return things
}

async function turnOffAll(db: Db, workspaceId: string, now: Date): Promise<TurnedOffThing[]> {
  const keys = await db
    .update(accountKeys)
    .set({ revokedAt: now })
    .where(and(eq(accountKeys.workspaceId, workspaceId), isNull(accountKeys.revokedAt)))
    .returning({ id: accountKeys.id, name: accountKeys.name })
  const backends = await db
    .update(senders)
    .set({ revokedAt: now })
    .where(and(eq(senders.workspaceId, workspaceId), isNull(senders.revokedAt)))
    .returning({ id: senders.id, name: senders.name })
  const outputs = await db
    .update(webhookOutputs)
    .set({ enabled: false, turnedOffReason: REASON, turnedOffAt: now, updatedAt: now })
    .where(and(eq(webhookOutputs.workspaceId, workspaceId), webhookOutputs.enabled))
    .returning({
      id: webhookOutputs.id,
      name: webhookOutputs.name,
      pipeId: sql<string | null>`coalesce(${webhookOutputs.pipeId}, ${webhookOutputs.furtherPipeId})`,
    })
  const hooks = await db
    .update(pipeHooks)
    .set({ enabled: false, updatedAt: now })
    .where(and(eq(pipeHooks.workspaceId, workspaceId), pipeHooks.enabled))
    .returning({ id: pipeHooks.id, name: pipeHooks.hook, pipeId: pipeHooks.pipeId })
  const buckets = await db
    .update(dataStores)
    .set({ turnedOffAt: now, updatedAt: now })
    .where(
      and(
        eq(dataStores.workspaceId, workspaceId),
        isNull(dataStores.turnedOffAt),
        isNull(dataStores.deletedAt),
      ),
    )
    .returning({ id: dataStores.id, name: dataStores.name })
  const names = await namesOfPipes(
    db,
    [...outputs, ...hooks].flatMap(({ pipeId }) => pipeId ?? []),
  )
  const named = ({ id, name, pipeId }: (typeof outputs)[number]) => ({
    id,
    name: names.get(pipeId ?? '') ?? name,
  })
  const as = (kind: TurnedOffKind) => (thing: { id: string; name: string }) => ({ kind, ...thing })
  return [
    ...keys.map(as('account_key')),
    ...backends.map(as('sender')),
    ...outputs.map(named).map(as('webhook')),
    ...hooks.map(named).map(as('hook')),
    ...buckets.map(as('data_store')),
  ]
}

async function namesOfPipes(db: Db, ids: string[]): Promise<Map<string, string>> {
  const found = await db
    .select({ id: pipes.id, name: pipes.name })
    .from(pipes)
    .where(ids.length > 0 ? inArray(pipes.id, ids) : sql`false`)
  return new Map(found.map(({ id, name }) => [id, name]))
}

/** An item that was turned off when an account changed hands and is still off. The owner may switch it on again. */
export const turnedOffAnswer = z.strictObject({
  kind: z.enum(TURNED_OFF_KINDS),
  id: z.uuid(),
  name: z.string(),
  turnedOffAt: z.iso.datetime(),
})
export type TurnedOff = z.output<typeof turnedOffAnswer>

export const turnedOffList = z.strictObject({ data: z.array(turnedOffAnswer) })

/** The maximum number of items listed. Any others are listed once some of these have been switched on. */
const MOST = 500

/** Items that were switched on elsewhere or deleted are not listed. */
export async function listTurnedOff({ db }: Pick<Runtime, 'db'>, actor: Actor): Promise<TurnedOff[]> {
  const found = await rows<Omit<TurnedOff, 'turnedOffAt'> & { at: Date }>(
    db,
    sql`select t.kind, t.subject_id as id, still.name, t.turned_off_at as at from turned_off t
      join lateral (
        select k.name from account_keys k
          where t.kind = 'account_key' and k.id = t.subject_id and k.revoked_at is not null
        union all select s.name from senders s
          where t.kind = 'sender' and s.id = t.subject_id and s.revoked_at is not null
        union all select coalesce(p.name, o.name) from webhook_outputs o
          left join pipes p on p.id in (o.pipe_id, o.further_pipe_id)
          where t.kind = 'webhook' and o.id = t.subject_id and not o.enabled and p.deleted_at is null
        union all select p.name from pipe_hooks h join pipes p on p.id = h.pipe_id
          where t.kind = 'hook' and h.id = t.subject_id and not h.enabled and p.deleted_at is null
        union all select d.name from data_stores d
          where t.kind = 'data_store' and d.id = t.subject_id and d.turned_off_at is not null and d.deleted_at is null
      ) still on true
      where t.workspace_id = ${actor.workspaceId}::uuid order by t.turned_off_at desc, t.kind, t.subject_id limit ${MOST}`,
  )
  return found.map(({ kind, id, name, at }) => ({ kind, id, name, turnedOffAt: new Date(at).toISOString() }))
}

const SWITCHED_ON: Record<TurnedOffKind, string> = {
  account_key: 'account_key.switched_on',
  sender: 'sender.switched_on',
  webhook: 'webhook.switched_on',
  hook: 'hook.switched_on',
  data_store: 'data_store.switched_on',
}

/**
 * Switches an item on, with all the access it grants: anyone who knows a key, or one of a Sender's tokens, can use it
 * again.
 */
export async function switchOn({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<TurnedOff> {
  return db.transaction(async (tx) => {
    const mine = and(eq(turnedOff.workspaceId, actor.workspaceId), eq(turnedOff.subjectId, id))
    const [row] = isUuid(id) ? await tx.select().from(turnedOff).where(mine).for('update') : []
    const thing = row && (await listTurnedOff({ db: tx }, actor)).find((listed) => listed.id === id)
    if (!thing) throw new SluiceError('not_found', 'This item was not turned off, or it is already on again.')
    await turnOn(tx, thing, new Date(clock.now()))
    await tx.delete(turnedOff).where(mine)
    const entry = { action: SWITCHED_ON[thing.kind], subjectId: id, subjectLabel: thing.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return thing
  })
}

async function turnOn(tx: Db, { kind, id }: TurnedOff, now: Date): Promise<void> {
  switch (kind) {
    case 'account_key':
      await tx.update(accountKeys).set({ revokedAt: null }).where(eq(accountKeys.id, id))
      return
    case 'sender':
      await tx.update(senders).set({ revokedAt: null }).where(eq(senders.id, id))
      return
    case 'webhook': {
      const again = { failingSince: null, turnedOffReason: null, turnedOffAt: null, updatedAt: now }
      await tx
        .update(webhookOutputs)
        .set({ enabled: true, ...again })
        .where(eq(webhookOutputs.id, id))
      return
    }
    case 'hook':
      await tx.update(pipeHooks).set({ enabled: true, updatedAt: now }).where(eq(pipeHooks.id, id))
      return
    case 'data_store':
      await tx.update(dataStores).set({ turnedOffAt: null, updatedAt: now }).where(eq(dataStores.id, id))
  }
}
