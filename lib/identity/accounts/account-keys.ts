import { and, desc, eq, isNull, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { accountKeys } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, isUuid, newSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import { nameField } from '../../platform/kernel/parse-input.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { notOfDemo } from '../not-of-demo.ts'
import { takeCreation } from '../take-creation.ts'

/** The keys of the management API: made, listed, revoked, and known again. */
export const accountKeyInput = z.strictObject({ name: nameField })

export const accountKeyAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  last4: z.string(),
  lastUsedAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})
export type AccountKey = z.output<typeof accountKeyAnswer>

export function toAccountKey(row: typeof accountKeys.$inferSelect): AccountKey {
  return {
    id: row.id,
    name: row.name,
    last4: row.last4,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }
}

/** The key itself is in this answer and nowhere else. */
export async function createAccountKey(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  { name }: z.output<typeof accountKeyInput>,
): Promise<AccountKey & { key: string }> {
  const key = newSecret('ak_')
  return db.transaction(async (tx) => {
    await takeCreation({ db: tx, clock }, actor, 'account keys')
    const [row] = await tx
      .insert(accountKeys)
      .values({
        id: uuidv7(clock.now()),
        workspaceId: actor.workspaceId,
        name,
        keyHash: hashSecret(key),
        last4: key.slice(-4),
        createdAt: new Date(clock.now()),
      })
      .returning()
    const entry = { action: 'account_key.created', subjectId: row!.id, subjectLabel: name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return { ...toAccountKey(row!), key }
  })
}

export async function listAccountKeys(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<AccountKey>> {
  const before = readCursor(cursor, isUuid)
  const rows = await db
    .select()
    .from(accountKeys)
    .where(
      and(eq(accountKeys.workspaceId, actor.workspaceId), before ? lt(accountKeys.id, before) : undefined),
    )
    .orderBy(desc(accountKeys.id))
    .limit(limit + 1)
  return toPage(rows, limit, toAccountKey, (row) => row.id)
}

/** At once and for good. Revoking again changes nothing. */
export async function revokeAccountKey(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<AccountKey> {
  return db.transaction(async (tx) => {
    const mine = and(eq(accountKeys.id, id), eq(accountKeys.workspaceId, actor.workspaceId))
    const [before] = isUuid(id) ? await tx.select().from(accountKeys).where(mine).for('update') : []
    if (!before) throw new SluiceError('not_found', 'There is no such account key.')
    if (before.revokedAt) return toAccountKey(before)
    const revokedAt = new Date(clock.now())
    await tx.update(accountKeys).set({ revokedAt }).where(mine)
    const entry = { action: 'account_key.revoked', subjectId: id, subjectLabel: before.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toAccountKey({ ...before, revokedAt })
  })
}

/** Every account key of the workspace, each with its line in the audit log. */
export async function revokeAllKeys(runtime: Pick<Runtime, 'db' | 'clock'>, actor: Actor): Promise<void> {
  const revoked = await runtime.db
    .update(accountKeys)
    .set({ revokedAt: new Date(runtime.clock.now()) })
    .where(and(eq(accountKeys.workspaceId, actor.workspaceId), isNull(accountKeys.revokedAt)))
    .returning({ id: accountKeys.id, name: accountKeys.name })
  for (const { id, name } of revoked)
    await recordAudit(runtime, actor, { action: 'account_key.revoked', subjectId: id, subjectLabel: name })
}

type Found = { id: string; workspace_id: string; name: string; revoked: boolean }

/** Who calls the management API. The key's last use is kept to the minute, to spare a write for each request. */
export async function authenticateAccountKey(
  { db, clock, config }: Pick<Runtime, 'db' | 'clock' | 'config'>,
  key: string | undefined,
): Promise<Actor> {
  if (key === undefined) {
    throw new SluiceError('account_key_missing', 'Send an account key: Authorization: Bearer ak_…')
  }
  const now = new Date(clock.now()).toISOString()
  const [found] = await rows<Found>(
    db,
    sql`
      with found as (
        select id, workspace_id, name, revoked_at is not null as revoked, last_used_at
        from account_keys k where key_hash = ${hashSecret(key)} and ${notOfDemo(config, sql`k.workspace_id`)}
      ), used as (
        update account_keys set last_used_at = ${now}::timestamptz from found
        where account_keys.id = found.id and not found.revoked
          and (found.last_used_at is null or found.last_used_at < ${now}::timestamptz - interval '1 minute')
      )
      select id, workspace_id, name, revoked from found`,
  )
  if (!found) throw new SluiceError('account_key_invalid', 'There is no such account key.')
  if (found.revoked) throw new SluiceError('account_key_invalid', 'This account key was revoked.')
  return { workspaceId: found.workspace_id, kind: 'account_key', id: found.id, label: found.name }
}

/** For what goes on long after the key was shown. */
export async function isKeyGood(db: Db, keyId: string): Promise<boolean> {
  const found = await rows(db, sql`select from account_keys where id = ${keyId}::uuid and revoked_at is null`)
  return found.length > 0
}
