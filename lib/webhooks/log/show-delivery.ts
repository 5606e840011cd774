import { and, asc, desc, eq } from 'drizzle-orm'
import { attempts, deliveries, events } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { toAttempt, toDelivery, type WholeDelivery } from './delivery.ts'

/** Only the latest attempts are shown, because a program that keeps resending can make any number of them. */
const MAX_ATTEMPTS = 100

/** What Sluice sent and how the receiver responded, oldest attempt first. */
export async function showDelivery(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
): Promise<WholeDelivery> {
  const row = await findDelivery(db, actor, id)
  const [event] = await db
    .select({ kind: events.kind, payload: events.payload })
    .from(events)
    .where(eq(events.id, row.eventId))
  const made = await db
    .select()
    .from(attempts)
    .where(eq(attempts.deliveryId, id))
    .orderBy(desc(attempts.id))
    .limit(MAX_ATTEMPTS)
  return {
    ...toDelivery(row, event!.kind, [], clock.now()),
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

/** Other workspaces' deliveries are reported as not found. */
export async function findDelivery(db: Db, actor: Actor, id: string, lock?: 'update') {
  const query = db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.id, id), eq(deliveries.workspaceId, actor.workspaceId)))
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such delivery. Deliveries are kept for 30 days.')
  return row
}

/** An event with its content, its file and its deliveries. */
type ShownEvent = {
  id: string
  kind: string
  pipeId: string
  fileId: string | null
  test: boolean
  createdAt: string
  /** What receivers get; null while the event is marked as missed. */
  payload: unknown
  /** The file's status while the event is marked as missed; null otherwise. */
  missedStatus: string | null
  deliveries: { id: string; state: string; url: string }[]
}

export async function showEvent(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
  id: string,
): Promise<ShownEvent> {
  const [row] = isUuid(id)
    ? await db
        .select()
        .from(events)
        .where(and(eq(events.id, id), eq(events.workspaceId, workspaceId)))
    : []
  if (!row) throw new SluiceError('not_found', 'There is no such event.')
  const sent = await db
    .select({ id: deliveries.id, state: deliveries.state, url: deliveries.url })
    .from(deliveries)
    .where(eq(deliveries.eventId, id))
    .orderBy(asc(deliveries.id))
  const { kind, pipeId, fileId, test, createdAt, payload, missedStatus } = row
  return {
    id,
    kind,
    pipeId,
    fileId,
    test,
    missedStatus,
    createdAt: createdAt.toISOString(),
    payload: payload === null ? null : JSON.parse(payload),
    deliveries: sent,
  }
}
