import { desc, eq } from 'drizzle-orm'
import { attempts, events } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { toAttempt, toDelivery, type WholeDelivery } from './delivery.ts'
import { findDelivery } from './find-delivery.ts'

/** Only the latest are shown, since a program that keeps resending can make any number of attempts. */
const MAX_ATTEMPTS = 100

/** What Sluice sent and how the receiver responded, oldest attempt first. */
export async function showDelivery(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<WholeDelivery> {
  const row = await findDelivery(db, actor, id)
  const [event] = await db.select({ payload: events.payload }).from(events).where(eq(events.id, row.eventId))
  const made = await db
    .select()
    .from(attempts)
    .where(eq(attempts.deliveryId, id))
    .orderBy(desc(attempts.id))
    .limit(MAX_ATTEMPTS)
  return {
    ...toDelivery(row, [], clock.now()),
    requestBody: event!.payload!,
    attempts: made.reverse().map((attempt) => ({
      ...toAttempt(attempt),
      url: attempt.url,
      requestHeaders: attempt.requestHeaders,
      responseHeaders: attempt.responseHeaders,
      responseBody: attempt.responseBody,
      errorDetail: attempt.errorDetail,
    })),
  }
}
