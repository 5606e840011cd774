import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { days } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, newSecret } from '../../platform/kernel/ids.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { findSender } from './read-senders.ts'
import { type Sender, type SenderInput, toSender } from './sender.ts'

/** Existing files keep the old name. */
export async function renameSender(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  { name }: SenderInput,
): Promise<Sender> {
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.name === name) return toSender(before)
    const [row] = await tx.update(senders).set({ name }).where(eq(senders.id, id)).returning()
    const entry = {
      action: 'sender.renamed',
      subjectId: id,
      subjectLabel: name,
      detail: { before: before.name },
    }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toSender(row!)
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
  const token = newSecret('sk_')
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.revokedAt) throw new SluiceError('conflict', 'This Sender was revoked. Create another Sender.')
    const [row] = await tx
      .update(senders)
      .set({
        tokenHash: hashSecret(token),
        tokenLast4: token.slice(-4),
        previousTokenHash: before.tokenHash,
        previousTokenUntil: new Date(clock.now() + days(overlapDays)),
        exposedAt: null,
        exposedOrigin: null,
        exposedNoticedAt: null,
      })
      .where(eq(senders.id, id))
      .returning()
    const entry = {
      action: 'sender.rotated',
      subjectId: id,
      subjectLabel: row!.name,
      detail: { overlapDays },
    }
    await recordAudit({ db: tx, clock }, actor, entry)
    return { ...toSender(row!), token }
  })
}

/**
 * Revokes a Sender immediately and permanently, along with every temporary token it issued. Revoking it again changes
 * nothing.
 */
export async function revokeSender({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<Sender> {
  const revokedAt = new Date(clock.now())
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.revokedAt) return toSender(before)
    const [row] = await tx.update(senders).set({ revokedAt }).where(eq(senders.id, id)).returning()
    const entry = { action: 'sender.revoked', subjectId: id, subjectLabel: before.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toSender(row!)
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
