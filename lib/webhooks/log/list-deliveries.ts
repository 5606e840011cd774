import { and, asc, desc, eq, gte, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { attempts, DELIVERY_STATES, deliveries } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { type Page, pageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { timeField } from '../../platform/kernel/fields.ts'
import { firstUuidAt, isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type AttemptRow, type Delivery, toDelivery } from './delivery.ts'

export const deliveryQuery = pageQuery.extend({
  pipeId: z.string().optional(),
  fileId: z.uuid('must be the id of a file').optional(),
  eventId: z.uuid('must be the id of an event').optional(),
  state: z.enum(DELIVERY_STATES, { message: 'must be pending, delivered or failed' }).optional(),
  /** Events from then on, and before then. */
  since: timeField.optional(),
  until: timeField.optional(),
})
type Query = z.output<typeof deliveryQuery>

const MOST_ATTEMPTS = 20

/** The delivery log, newest event first, each with its latest attempts. An id tells the time, so each page is along an index. */
export async function listDeliveries(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  { limit, cursor, pipeId, fileId, eventId, state, since, until }: Query,
): Promise<Page<Delivery>> {
  const before = readCursor(cursor, isUuid)
  const found = await db
    .select()
    .from(deliveries)
    .where(
      and(
        eq(deliveries.workspaceId, actor.workspaceId),
        before ? lt(deliveries.id, before) : undefined,
        pipeId ? eq(deliveries.pipeId, pipeId) : undefined,
        fileId ? eq(deliveries.fileId, fileId) : undefined,
        eventId ? eq(deliveries.eventId, eventId) : undefined,
        state ? eq(deliveries.state, state) : undefined,
        since ? gte(deliveries.id, firstUuidAt(since.getTime())) : undefined,
        until ? lt(deliveries.id, firstUuidAt(until.getTime())) : undefined,
      ),
    )
    .orderBy(desc(deliveries.id))
    .limit(limit + 1)
  const byDelivery = Map.groupBy(await latestAttempts(db, found), ({ deliveryId }) => deliveryId)
  const toItem = (row: (typeof found)[number]) => toDelivery(row, byDelivery.get(row.id) ?? [], clock.now())
  return toPage(found, limit, toItem, ({ id }) => id)
}

async function latestAttempts(
  db: Db,
  shown: { id: string }[],
): Promise<(AttemptRow & { deliveryId: string })[]> {
  if (shown.length === 0) return []
  const { id, deliveryId, at, durationMs, status, error, trigger } = attempts
  const latest = db.$with('latest').as(
    db
      .select({
        id,
        rank: sql<number>`row_number() over (partition by ${deliveryId} order by ${id} desc)`.as('rank'),
      })
      .from(attempts)
      .where(sql`${deliveryId} in ${shown.map((row) => row.id)}`),
  )
  return db
    .with(latest)
    .select({ id, deliveryId, at, durationMs, status, error, trigger })
    .from(attempts)
    .innerJoin(latest, eq(latest.id, id))
    .where(sql`${latest.rank} <= ${MOST_ATTEMPTS}`)
    .orderBy(asc(id))
}
