import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm'
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
  type TurnedOffKind,
  turnedOff,
  webhookOutputs,
  workspaces,
} from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { lockChangeOfHands } from '../audit/change-of-hands.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { signOutEverywhere, tellStreams } from '../sessions/sessions.ts'

export type TurnedOffThing = { kind: TurnedOffKind; id: string; name: string }

/**
 * Whoever was in an account before its address was proven may not be its owner, and might have waited for them. Nothing
 * that is there acts or listens from now on: provider accounts and sessions open nothing, keys and Senders (with every token
 * that they issued) are revoked, webhooks and decision hooks are off, Data Stores take no uploads, and whom they let in is out. The owner sees the list and may switch each
 * on again: `turned-off.ts`. Call it in the transaction in which the owner proves the address.
 */
export async function turnOutStrangers(runtime: CoreRuntime, userId: string): Promise<TurnedOffThing[]> {
  const { db } = runtime
  const workspaceIds = await ownWorkspaces(db, userId)
  for (const workspaceId of workspaceIds) await lockChangeOfHands(db, workspaceId)
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

/** Those that were made with the account; one that they were invited to is somebody else's. */
async function ownWorkspaces(db: Db, userId: string): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select m.workspace_id as id from members m where m.user_id = ${userId}::uuid and m.role = 'owner'
      and not exists (select from members o where o.workspace_id = m.workspace_id and o.created_at < m.created_at)`,
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

const AUDITED: Record<TurnedOffKind, string> = {
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
  // They may have muted what would tell of them, and the owner has no second factor yet.
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
    const entry = { action: AUDITED[kind], subjectId: id, subjectLabel: name, detail: { reason: REASON } }
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
