import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { deliveries, webhookOutputs } from '#drizzle/schema/index.ts'
import { keptSince } from '../../events/read-events.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import { timeField } from '../../platform/kernel/parse-input.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput } from '../outputs/find-output.ts'
import type { WholeDelivery } from './delivery.ts'
import { findDelivery, showDelivery } from './show-delivery.ts'

const ONE_BY_ONE = { burst: 100, refillMs: 1000 }

/** Sends an event again immediately, regardless of its state. If that fails, the retry schedule starts over. */
export async function resendDelivery(
  { db, clock, queue }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  id: string,
): Promise<WholeDelivery> {
  const now = new Date(clock.now())
  await takeFromLimit({ db, clock }, `resend:${actor.workspaceId}`, ONE_BY_ONE)
  return db.transaction(async (tx) => {
    const row = await findDelivery(tx, actor, id, 'update')
    if (row.createdAt < keptSince(clock.now())) {
      throw new SluiceError('conflict', 'The event is more than 30 days old and can no longer be resent.')
    }
    if (row.claimedUntil && row.claimedUntil > now) {
      throw new SluiceError('conflict', 'An attempt is in progress. Wait for it to finish.')
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

/** How many deliveries a page of the log shows. */
const MOST = 100

/** Resends those deliveries that can be resent, and returns why the others cannot. */
export async function resendDeliveries(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  ids: string[],
): Promise<{ resent: number; refused: string[] }> {
  const refused: string[] = []
  const wanted = ids.filter(isUuid).slice(0, MOST)
  for (const id of wanted) {
    try {
      await resendDelivery(runtime, actor, id)
    } catch (error) {
      if (!isSluiceError(error) || error.status >= 500) throw error
      refused.push(error.message)
    }
  }
  return { resent: wanted.length - refused.length, refused }
}

export const resendFailedInput = z.strictObject({
  /** Events from this time on. */
  since: timeField,
  pipeId: z.string().optional(),
  outputId: z.uuid('must be the id of a webhook output').optional(),
  /** Also resends deliveries that are waiting for a retry. */
  retrying: z.boolean().optional(),
})
export const resendFailedAnswer = z.strictObject({
  resent: z.int(),
  /** True if more deliveries remain than one call resends. Call again to continue. */
  more: z.boolean(),
})

/** Each call resends up to 10,000 deliveries. */
const IN_BULK = { burst: 10, refillMs: 10_000 }
const AT_ONCE = 10_000

/** A condition on a row of `deliveries`: it was attempted before, and no attempt is in progress. */
function isRetried(now: string) {
  return sql`d.state = 'pending' and d.attempt_count > 0
    and (d.claimed_until is null or d.claimed_until < ${now}::timestamptz)`
}

/** Resends the failed deliveries of events since `since`, oldest first. Skips those whose output is off. */
export async function resendFailed(
  { db, clock, queue }: Pick<Runtime, 'db' | 'clock' | 'queue'>,
  actor: Actor,
  { since, pipeId, outputId, retrying }: z.output<typeof resendFailedInput>,
): Promise<z.output<typeof resendFailedAnswer>> {
  const now = new Date(clock.now()).toISOString()
  const kept = keptSince(clock.now())
  const from = since > kept ? since : kept
  await takeFromLimit({ db, clock }, `resend-failed:${actor.workspaceId}`, IN_BULK)
  return db.transaction(async (tx) => {
    if (pipeId) await findPipe(tx, actor, pipeId)
    if (outputId) await findOutput(tx, actor, { outputId })
    const resent = await rows<{ output_id: string }>(
      tx,
      sql`update deliveries
      set state = 'pending', attempt_count = 0, next_trigger = 'manual', next_attempt_at = ${now}::timestamptz
      where id in (
        select d.id from deliveries d
        join webhook_outputs o on o.id = d.webhook_output_id and o.enabled
        where d.workspace_id = ${actor.workspaceId} and (d.state = 'failed' ${retrying ? sql`or ${isRetried(now)}` : sql``}) and not d.test
          and d.created_at >= ${from.toISOString()}::timestamptz
          ${pipeId ? sql`and d.pipe_id = ${pipeId}` : sql``}
          ${outputId ? sql`and d.webhook_output_id = ${outputId}::uuid` : sql``}
        order by d.id limit ${AT_ONCE} for update of d skip locked
      )
      returning webhook_output_id as output_id`,
    )
    const detail = {
      since: since.toISOString(),
      resent: resent.length,
      ...(pipeId && { pipeId }),
      ...(outputId && { outputId }),
    }
    await recordAudit({ db: tx, clock }, actor, { action: 'delivery.failed_resent', detail })
    const outputs = [...new Set(resent.map((row) => row.output_id))]
    const wakes = outputs.map((outputId) => ({ data: { outputId, workspaceId: actor.workspaceId } }))
    await queue.enqueueAll(tx, 'webhook-attempt', wakes)
    return { resent: resent.length, more: resent.length === AT_ONCE }
  })
}
