import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { senders } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { days } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret, newSecret } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findSender } from './find-sender.ts'
import { type Sender, toSender } from './sender.ts'

export const rotateSenderInput = z.strictObject({
  /** How long the token of before stays good. */
  overlapDays: z.number().min(0, 'must be at least 0').max(7, 'must be at most 7').default(1),
})

/**
 * A new token, once in this answer. The one of before stays good for the overlap, so that backends can change
 * over; one that was still in an overlap of its own ends now.
 */
export async function rotateSender(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
  { overlapDays }: z.output<typeof rotateSenderInput>,
): Promise<Sender & { token: string }> {
  const token = newSecret('sk_')
  return db.transaction(async (tx) => {
    const before = await findSender(tx, actor, id, 'update')
    if (before.revokedAt) throw new SluiceError('conflict', 'This Sender was revoked. Create another.')
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
