import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, newSecret } from '../../platform/kernel/ids.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { limitsInput } from './limits.ts'
import { findSender, showSender } from './read-senders.ts'
import type { IssuedCredential, Sender, SenderInput, SenderRow } from './sender.ts'
import { assertPipesExist, assertRoom } from './sender-groups.ts'

/** Existing files keep the old name. */
export async function renameSender(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  { name }: SenderInput,
): Promise<Sender> {
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.name === name) return showSender({ db: tx, clock }, actor, id)
    await tx.update(senders).set({ name }).where(eq(senders.id, id))
    const entry = {
      action: 'sender.renamed',
      subjectId: id,
      subjectLabel: name,
      detail: { before: before.name },
    }
    await recordAudit({ db: tx, clock }, actor, entry)
    return showSender({ db: tx, clock }, actor, id)
  })
}

export const senderLimitsInput = limitsInput.extend({ groupId: z.string().max(100).nullable() }).partial()

/** Changes what a Sender may use, or its group. This applies from the next request, also to open sessions. */
export async function limitSender(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  changes: z.output<typeof senderLimitsInput>,
): Promise<Sender> {
  return db.transaction(async (tx) => {
    const { name, groupId } = await findSender(tx, actor, id, 'update')
    await assertPipesExist(tx, actor, changes.pipeIds)
    if (changes.groupId && changes.groupId !== groupId) await assertRoom(tx, actor, changes.groupId, 1)
    if (Object.keys(changes).length > 0) await tx.update(senders).set(changes).where(eq(senders.id, id))
    const entry = { action: 'sender.limited', subjectId: id, subjectLabel: name, detail: changes }
    await recordAudit({ db: tx, clock }, actor, entry)
    return showSender({ db: tx, clock }, actor, id)
  })
}

export const rotateSenderInput = z.strictObject({
  /** How long the old token stays valid. */
  overlapDays: z.number().min(0, 'must be at least 0').max(7, 'must be at most 7').default(1),
})

/**
 * Creates a new token, which only this response contains. The old token works until the overlap ends, so that backends
 * can switch; an even older token that is still in its overlap stops working now.
 */
export async function rotateSender(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  { overlapDays }: z.output<typeof rotateSenderInput>,
): Promise<Sender & { token: string }> {
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.revokedAt) throw new SluiceError('conflict', 'This Sender was revoked. Create another Sender.')
    const [made] = await replaceTokens({ db: tx, clock }, [before], overlapDays)
    const entry = {
      action: 'sender.rotated',
      subjectId: id,
      subjectLabel: before.name,
      detail: { overlapDays },
    }
    await recordAudit({ db: tx, clock }, actor, entry)
    return { ...(await showSender({ db: tx, clock }, actor, id)), token: made!.token }
  })
}

/** Gives each of these Senders a new token. */
export async function replaceTokens(
  { db, clock }: CoreRuntime,
  of: readonly Pick<SenderRow, 'id' | 'name'>[],
  overlapDays: number,
): Promise<IssuedCredential[]> {
  const made = of.map(({ id, name }) => ({ id, name, token: newSecret('sk_') }))
  const rows = made.map(({ id, token }) => ({ id, hash: hashSecret(token), last4: token.slice(-4) }))
  const until = new Date(clock.now() + days(overlapDays)).toISOString()
  await db.execute(sql`
    update senders s set token_hash = made.hash, token_last4 = made.last4, previous_token_hash = s.token_hash,
      previous_token_until = ${until}::timestamptz, exposed_at = null, exposed_origin = null, exposed_noticed_at = null
    from json_to_recordset(${JSON.stringify(rows)}::json) as made(id uuid, hash text, last4 text) where s.id = made.id`)
  return made
}

/**
 * Revokes a Sender immediately and permanently, along with every temporary token it issued. Revoking it again changes
 * nothing.
 */
export async function revokeSender({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<Sender> {
  const revokedAt = new Date(clock.now())
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.revokedAt) return showSender({ db: tx, clock }, actor, id)
    await tx.update(senders).set({ revokedAt }).where(eq(senders.id, id))
    const entry = { action: 'sender.revoked', subjectId: id, subjectLabel: before.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return showSender({ db: tx, clock }, actor, id)
  })
}

/** The maximum length of an origin that a Pipe can allow. */
const MAX_ORIGIN = 255

/**
 * Records that a Sender's token was sent to the TUS endpoint, probably by a browser. The Sender page then shows a
 * warning.
 */
export async function markExposed(
  db: Db,
  senderToken: string,
  seen: { origin: string | null; nowMs: number },
): Promise<void> {
  const hash = hashSecret(senderToken)
  await db.execute(sql`
    update senders set exposed_at = ${new Date(seen.nowMs).toISOString()}::timestamptz,
      exposed_origin = ${seen.origin?.slice(0, MAX_ORIGIN) ?? null}
    where token_hash = ${hash} or previous_token_hash = ${hash}`)
}
