import { eq } from 'drizzle-orm'
import { deliveries, webhookOutputs } from '#drizzle/schema/index.ts'
import { keptSince } from '../../events/kept-since.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { takeFromLimit } from '../../platform/rate-limits/take.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { WholeDelivery } from './delivery.ts'
import { findDelivery } from './find-delivery.ts'
import { showDelivery } from './show-delivery.ts'

const PER_WORKSPACE = { burst: 100, refillMs: 1000 }

/** Sends an event again at once, whatever its state. If that fails, the schedule of retries begins anew. */
export async function resendDelivery(
  { db, clock, queue }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  id: string,
): Promise<WholeDelivery> {
  const now = new Date(clock.now())
  await takeFromLimit({ db, clock }, `resend:${actor.workspaceId}`, PER_WORKSPACE)
  return db.transaction(async (tx) => {
    const row = await findDelivery(tx, actor, id, 'update')
    if (row.createdAt < keptSince(clock.now())) {
      throw new SluiceError('conflict', 'It is more than 30 days old and can no longer be resent.')
    }
    if (row.claimedUntil && row.claimedUntil > now) {
      throw new SluiceError('conflict', 'An attempt to deliver it is under way. Wait for it to finish.')
    }
    const [output] = await tx.select().from(webhookOutputs).where(eq(webhookOutputs.id, row.webhookOutputId))
    if (!output) throw new SluiceError('conflict', 'The webhook output was deleted.')
    if (!output.enabled && !row.test) {
      throw new SluiceError('conflict', 'The webhook output is off. Turn it on first.')
    }
    await tx
      .update(deliveries)
      .set({
        state: 'pending',
        attemptCount: 0,
        nextTrigger: row.test ? 'test' : 'manual',
        nextAttemptAt: now,
        claimedBy: null,
        claimedUntil: null,
      })
      .where(eq(deliveries.id, id))
    await recordAudit({ db: tx, clock }, actor, { action: 'delivery.resent', subjectId: id })
    await queue.enqueue(tx, 'webhook-attempt', { outputId: output.id, workspaceId: row.workspaceId })
    return showDelivery({ db: tx, clock }, actor, id)
  })
}
