import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import { z } from 'zod'
import { accountKeys, KEY_SCOPES, users } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, isUuid, newSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import { nameField, timeField, toAnswer } from '../../platform/kernel/parse-input.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import { lesserRole, type Role, withArticle } from '../rights.ts'
import { takeCreation } from '../take-creation.ts'

/**
 * The keys for the management API. A key may do what both its scope and its creator's current role allow: when members
 * lose a right, their keys lose it too, and when members leave, their keys stop working.
 */
export type KeyScope = (typeof KEY_SCOPES)[number]

/** The maximum rights of each key scope. */
export const ROLE_OF_SCOPE: Record<KeyScope, Role> = { read: 'viewer', write: 'developer', admin: 'admin' }

export const accountKeyInput = z.strictObject({
  name: nameField,
  /** If omitted, the key has all of its creator's rights. */
  scope: z.enum(KEY_SCOPES).optional(),
  expiresAt: timeField.nullable().optional(),
})

export const accountKeyAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  last4: z.string(),
  scope: z.enum(KEY_SCOPES),
  /** The creator's email address, or null if unknown. */
  createdBy: z.string().nullable(),
  expiresAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})
export type AccountKey = z.output<typeof accountKeyAnswer>

const toAccountKey = (row: Parameters<typeof toAnswer<typeof accountKeyAnswer>>[1]): AccountKey =>
  toAnswer(accountKeyAnswer, row)

const SHOWN = {
  id: accountKeys.id,
  name: accountKeys.name,
  last4: accountKeys.last4,
  scope: accountKeys.scope,
  createdBy: users.email,
  expiresAt: accountKeys.expiresAt,
  lastUsedAt: accountKeys.lastUsedAt,
  revokedAt: accountKeys.revokedAt,
  createdAt: accountKeys.createdAt,
}

/** The scopes that a user may give to keys, narrowest first. */
export function scopesFor({ role }: { role: Role }): KeyScope[] {
  return KEY_SCOPES.filter((scope) => lesserRole(ROLE_OF_SCOPE[scope], role) === ROLE_OF_SCOPE[scope])
}

/** Only this response contains the key itself. */
export async function createAccountKey(
  { db, clock }: CoreRuntime,
  actor: Actor,
  { name, ...wanted }: z.output<typeof accountKeyInput>,
): Promise<AccountKey & { key: string }> {
  const key = newSecret('ak_')
  const scope = wanted.scope ?? scopesFor(actor).at(-1)!
  assertKeyAllowed(actor, { scope, expiresAt: wanted.expiresAt }, clock.now())
  return db.transaction(async (tx) => {
    await takeCreation({ db: tx, clock }, actor, 'account keys')
    const maker = await findMaker(tx, actor)
    const expiresAt = earlier(wanted.expiresAt ?? null, maker.expiresAt)
    const id = uuidv7(clock.now())
    const [row] = await tx
      .insert(accountKeys)
      .values({
        id,
        workspaceId: actor.workspaceId,
        name,
        keyHash: hashSecret(key),
        last4: key.slice(-4),
        scope,
        createdBy: maker.userId,
        expiresAt,
        createdAt: new Date(clock.now()),
      })
      .returning()
    const detail = { scope, expiresAt: expiresAt?.toISOString() ?? null }
    const entry = { action: 'account_key.created', subjectId: id, subjectLabel: name, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
    return { ...toAccountKey({ ...row!, createdBy: maker.email }), key }
  })
}

type Wanted = { scope: KeyScope; expiresAt: Date | null | undefined }

function assertKeyAllowed(actor: Actor, { scope, expiresAt }: Wanted, nowMs: number): void {
  if (!scopesFor(actor).includes(scope)) {
    const message = `exceeds your rights, which are those of ${withArticle(actor.role)}`
    throw invalidRequest([{ field: 'scope', message }])
  }
  if (expiresAt && expiresAt.getTime() <= nowMs)
    throw invalidRequest([{ field: 'expiresAt', message: 'must be in the future' }])
}

type Maker = { userId: string | null; email: string | null; expiresAt: Date | null }

/** A key creates other keys on behalf of its own creator, and they expire no later than it does. */
async function findMaker(tx: Db, actor: Actor): Promise<Maker> {
  if (actor.kind === 'user') return { userId: actor.id, email: actor.label, expiresAt: null }
  if (actor.kind !== 'account_key') return { userId: actor.id, email: null, expiresAt: null }
  const [maker] = await tx
    .select({ userId: accountKeys.createdBy, email: users.email, expiresAt: accountKeys.expiresAt })
    .from(accountKeys)
    .leftJoin(users, eq(users.id, accountKeys.createdBy))
    .where(eq(accountKeys.id, actor.id!))
  return maker!
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (!one || !other) return one ?? other
  return one < other ? one : other
}

export async function listAccountKeys(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<AccountKey>> {
  const before = readCursor(cursor, isUuid)
  const found = await db
    .select(SHOWN)
    .from(accountKeys)
    .leftJoin(users, eq(users.id, accountKeys.createdBy))
    .where(
      and(eq(accountKeys.workspaceId, actor.workspaceId), before ? lt(accountKeys.id, before) : undefined),
    )
    .orderBy(desc(accountKeys.id))
    .limit(limit + 1)
  return toPage(found, limit, toAccountKey, (row) => row.id)
}

/** Revokes a key immediately and permanently. Revoking it again changes nothing. */
export async function revokeAccountKey(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
): Promise<AccountKey> {
  const revokedAt = new Date(clock.now())
  return db.transaction(async (tx) => {
    const mine = and(eq(accountKeys.id, id), eq(accountKeys.workspaceId, actor.workspaceId))
    const [before] = isUuid(id)
      ? await tx
          .select(SHOWN)
          .from(accountKeys)
          .leftJoin(users, eq(users.id, accountKeys.createdBy))
          .where(mine)
          .for('update', { of: accountKeys })
      : []
    if (!before) throw new SluiceError('not_found', 'There is no such account key.')
    if (!scopesFor(actor).includes(before.scope))
      throw new SluiceError('forbidden', 'This key has more rights than you do. An admin can revoke it.')
    if (before.revokedAt) return toAccountKey(before)
    await tx.update(accountKeys).set({ revokedAt }).where(mine)
    const entry = { action: 'account_key.revoked', subjectId: id, subjectLabel: before.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toAccountKey({ ...before, revokedAt })
  })
}

/** Revokes all of a workspace's keys, or those created by one user. Each gets its own audit log entry. */
export async function revokeKeys(
  { db, clock }: { db: Db; clock: Runtime['clock'] },
  actor: Actor,
  { madeBy }: { madeBy?: string } = {},
): Promise<void> {
  const revoked = await db
    .update(accountKeys)
    .set({ revokedAt: new Date(clock.now()) })
    .where(
      and(
        eq(accountKeys.workspaceId, actor.workspaceId),
        isNull(accountKeys.revokedAt),
        madeBy === undefined ? undefined : eq(accountKeys.createdBy, madeBy),
      ),
    )
    .returning({ id: accountKeys.id, name: accountKeys.name })
  for (const { id, name } of revoked)
    await recordAudit({ db, clock }, actor, {
      action: 'account_key.revoked',
      subjectId: id,
      subjectLabel: name,
    })
}
