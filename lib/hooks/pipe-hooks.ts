import { and, asc, eq } from 'drizzle-orm'
import { HOOKS, type Hook, pipeHooks } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import type { Db } from '../platform/db/database.ts'
import { hours } from '../platform/kernel/clock.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { newWebhookSecret, uuidv7 } from '../platform/kernel/ids.ts'
import type { Runtime } from '../platform/runtime.ts'
import { sealsForColumns } from '../platform/vault.ts'
import { assertUrl } from '../webhooks/outputs/save-output.ts'
import { findPipe } from '../workspace/pipes/read-pipes.ts'
import {
  type HookAnswer,
  type HookInput,
  type HookRow,
  hookSecretPlace,
  previousHookSecretPlace,
  toHook,
} from './hook.ts'

type HookRuntime = Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>
type WithSecret = HookAnswer & { secret: string }

/** A Pipe has at most one hook of each kind, so the kind serves as the hook's name. */
export type HookRef = { pipeId: string; hook: string }

/** A Pipe's hooks, in the order in which they are asked. */
export async function listHooks(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  pipeId: string,
): Promise<HookAnswer[]> {
  await findPipe(db, actor, pipeId)
  const found = await db
    .select()
    .from(pipeHooks)
    .where(eq(pipeHooks.pipeId, pipeId))
    .orderBy(asc(pipeHooks.id))
  return HOOKS.flatMap((kind) => found.filter(({ hook }) => hook === kind).map(toHook))
}

/** Creates a hook and returns its secret, or replaces its settings. Uploads in progress keep their settings. */
export async function saveHook(
  { db, clock, config, vault }: HookRuntime,
  actor: Actor,
  { pipeId, hook: name }: HookRef,
  input: HookInput,
): Promise<HookAnswer & { secret?: string }> {
  assertUrl(input.url, config)
  return db.transaction(async (tx) => {
    const seal = await sealsForColumns(tx, vault)
    const { pipe } = await findPipe(tx, actor, pipeId, 'update')
    const hook = kindOf(name)
    const now = new Date(clock.now())
    const [changed] = await tx
      .update(pipeHooks)
      .set({ ...input, failingSince: null, fault: null, updatedAt: now })
      .where(ofPipe(pipeId, hook))
      .returning()
    const detail = { hook, ...input }
    await recordAudit({ db: tx, clock }, actor, {
      action: changed ? 'hook.changed' : 'hook.created',
      subjectId: pipeId,
      subjectLabel: pipe.name,
      detail,
    })
    if (changed) return toHook(changed)
    const [id, secret] = [uuidv7(now.getTime()), newWebhookSecret()]
    const sealed = { secretEncrypted: seal(secret, hookSecretPlace(id)) }
    const { workspaceId } = actor
    const values = { id, workspaceId, pipeId, hook, ...input, ...sealed, createdAt: now, updatedAt: now }
    const [created] = await tx.insert(pipeHooks).values(values).returning()
    return { ...toHook(created!), secret }
  })
}

/** Deletes a hook. Files that are waiting for its decision are allowed. */
export async function deleteHook(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  ref: HookRef,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { row, pipeName } = await findHook(tx, actor, ref, 'update')
    await tx.delete(pipeHooks).where(eq(pipeHooks.id, row.id))
    await audit(tx, clock, actor, { action: 'hook.deleted', row, pipeName })
  })
}

const OVERLAP_MS = hours(24)

/** For a day, requests are also signed with the previous secret, so that the receiver can switch. */
export async function rotateHookSecret(
  { db, clock, vault }: Pick<Runtime, 'db' | 'clock' | 'vault'>,
  actor: Actor,
  ref: HookRef,
): Promise<WithSecret> {
  const secret = newWebhookSecret()
  return db.transaction(async (tx) => {
    // This acquires a lock, which must happen before the row is locked: rotate-keys locks in the same order.
    const seal = await sealsForColumns(tx, vault)
    const { row, pipeName } = await findHook(tx, actor, ref, 'update')
    const before = vault.open(row.secretEncrypted, hookSecretPlace(row.id))
    const [rotated] = await tx
      .update(pipeHooks)
      .set({
        secretEncrypted: seal(secret, hookSecretPlace(row.id)),
        previousSecretEncrypted: seal(before, previousHookSecretPlace(row.id)),
        previousSecretUntil: new Date(clock.now() + OVERLAP_MS),
        updatedAt: new Date(clock.now()),
      })
      .where(eq(pipeHooks.id, row.id))
      .returning()
    await audit(tx, clock, actor, { action: 'hook.secret_rotated', row, pipeName })
    return { ...toHook(rotated!), secret }
  })
}

export async function revealHookSecret(
  { db, clock, vault }: Pick<Runtime, 'db' | 'clock' | 'vault'>,
  actor: Actor,
  ref: HookRef,
): Promise<string> {
  return db.transaction(async (tx) => {
    const { row, pipeName } = await findHook(tx, actor, ref)
    await audit(tx, clock, actor, { action: 'hook.secret_revealed', row, pipeName })
    return vault.open(row.secretEncrypted, hookSecretPlace(row.id))
  })
}

function kindOf(name: string): Hook {
  const hook = HOOKS.find((kind) => kind === name)
  if (!hook) throw new SluiceError('not_found', `A Pipe's hooks are ${HOOKS.join(' and ')}.`)
  return hook
}

const ofPipe = (pipeId: string, hook: Hook) => and(eq(pipeHooks.pipeId, pipeId), eq(pipeHooks.hook, hook))

export async function findHook(db: Db, actor: Actor, { pipeId, hook }: HookRef, lock?: 'update') {
  const { pipe, destinations } = await findPipe(db, actor, pipeId, lock)
  const [row] = await db
    .select()
    .from(pipeHooks)
    .where(ofPipe(pipeId, kindOf(hook)))
  if (!row) throw new SluiceError('not_found', 'This Pipe has no such hook.')
  return { row, pipeName: pipe.name, destinations }
}

function audit(
  tx: Db,
  clock: Runtime['clock'],
  actor: Actor,
  { action, row, pipeName }: { action: string; row: HookRow; pipeName: string },
): Promise<void> {
  const entry = { action, subjectId: row.pipeId, subjectLabel: pipeName, detail: { hook: row.hook } }
  return recordAudit({ db: tx, clock }, actor, entry)
}
