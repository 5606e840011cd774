import { and, asc, desc, eq, gt, gte, inArray, lt, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { attempts, DELIVERY_STATES, deliveries, type EventKind, events } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { eachPage, pageQuery, readTurn, type TurnedPage, turnPage } from '../../platform/db/page.ts'
import { firstUuidAt, isUuid } from '../../platform/kernel/ids.ts'
import { timeField } from '../../platform/kernel/parse-input.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { listOutputs, type OutputScope } from '../outputs/find-output.ts'
import type { WebhookOutput } from '../outputs/webhook-output.ts'
import { type AttemptRow, type Delivery, toDelivery } from './delivery.ts'

export const deliveryQuery = pageQuery.extend({
  pipeId: z.string().optional(),
  outputId: z.uuid('must be the id of a webhook output').optional(),
  fileId: z.uuid('must be the id of a file').optional(),
  eventId: z.uuid('must be the id of an event').optional(),
  state: z.enum(DELIVERY_STATES, { message: 'must be pending, delivered or failed' }).optional(),
  /** Events from this time on. */
  since: timeField.optional(),
  /** Events before this time. */
  until: timeField.optional(),
  /** The id of a file, an event or a delivery. */
  search: z.uuid('must be the id of a file, an event or a delivery').optional(),
  /** `newest` by default. */
  order: z.enum(['newest', 'oldest'], 'must be newest or oldest').optional(),
})
type Query = z.output<typeof deliveryQuery>

const MAX_ATTEMPTS = 20

/** The delivery log, in event order, with the latest attempts. Ids grow with time, so a page is an index range. */
export async function listDeliveries(
  { db, clock }: CoreRuntime,
  actor: Actor,
  { limit, cursor, pipeId, outputId, fileId, eventId, state, since, until, search, order }: Query,
): Promise<TurnedPage<Delivery>> {
  const from = readTurn(cursor, isUuid)
  const { id } = deliveries
  const down = (order !== 'oldest') !== from.back
  const found = await db
    .select()
    .from(deliveries)
    .where(
      and(
        eq(deliveries.workspaceId, actor.workspaceId),
        from.key ? (down ? lt(id, from.key) : gt(id, from.key)) : undefined,
        search
          ? or(eq(id, search), eq(deliveries.eventId, search), eq(deliveries.fileId, search))
          : undefined,
        pipeId ? eq(deliveries.pipeId, pipeId) : undefined,
        outputId ? eq(deliveries.webhookOutputId, outputId) : undefined,
        fileId ? eq(deliveries.fileId, fileId) : undefined,
        eventId ? eq(deliveries.eventId, eventId) : undefined,
        state ? eq(deliveries.state, state) : undefined,
        since ? gte(deliveries.id, firstUuidAt(since.getTime())) : undefined,
        until ? lt(deliveries.id, firstUuidAt(until.getTime())) : undefined,
      ),
    )
    .orderBy(down ? desc(id) : asc(id))
    .limit(limit + 1)
  const byDelivery = Map.groupBy(await latestAttempts(db, found), ({ deliveryId }) => deliveryId)
  const kinds = await kindsOf(db, found)
  const rowOf = new Map(found.map((row) => [row.id, row]))
  const { shown, ...cursors } = turnPage([...rowOf.keys()], limit, from)
  const data = shown.map((key) => {
    const row = rowOf.get(key)!
    return toDelivery(row, kinds.get(row.eventId)!, byDelivery.get(key) ?? [], clock.now())
  })
  return { data, ...cursors }
}

async function kindsOf(db: Db, shown: { eventId: string }[]): Promise<Map<string, EventKind>> {
  if (shown.length === 0) return new Map()
  const ids = [...new Set(shown.map(({ eventId }) => eventId))]
  const found = await db
    .select({ id: events.id, kind: events.kind })
    .from(events)
    .where(inArray(events.id, ids))
  return new Map(found.map(({ id, kind }) => [id, kind]))
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
    .where(sql`${latest.rank} <= ${MAX_ATTEMPTS}`)
    .orderBy(asc(id))
}

const AT_ONCE = 500

/** All deliveries of a query, for an export. */
export const eachDelivery = (runtime: CoreRuntime, actor: Actor, query: Query) =>
  eachPage((cursor) => listDeliveries(runtime, actor, { ...query, cursor, limit: AT_ONCE }))

/** Deliveries that were attempted without success. The counts are capped at `most`. */
export type Undelivered = { retrying: number; nextAt: Date | null; failed: number; most: number }

const MOST = 1000

export async function countUndelivered(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
  { pipeId, outputId }: { pipeId?: string | undefined; outputId?: string | undefined },
): Promise<Undelivered> {
  const mine = sql`workspace_id = ${workspaceId}::uuid and not test ${pipeId ? sql`and pipe_id = ${pipeId}` : sql``}
    ${outputId ? sql`and webhook_output_id = ${outputId}::uuid` : sql``}`
  const [row] = await rows<{ retrying: number; nextAtMs: number | null; failed: number }>(
    db,
    sql`select r.retrying, r."nextAtMs", f.failed from (
        select count(*)::int as retrying, floor(extract(epoch from min(next_attempt_at)) * 1000)::bigint as "nextAtMs"
        from (select next_attempt_at from deliveries where ${mine} and state = 'pending' and attempt_count > 0
          limit ${MOST}) one
      ) r, (
        select count(*)::int as failed
        from (select from deliveries where ${mine} and state = 'failed' limit ${MOST}) one
      ) f`,
  )
  const { retrying, nextAtMs, failed } = row!
  return { retrying, failed, nextAt: nextAtMs === null ? null : new Date(Number(nextAtMs)), most: MOST }
}

export type OutputWithLatest = { output: WebhookOutput; latest: Delivery[] }

const LATEST = 5

/** The outputs of a Pipe or the workspace, each with its latest deliveries. */
export async function listWithLatest(
  runtime: CoreRuntime,
  actor: Actor,
  scope: OutputScope,
): Promise<OutputWithLatest[]> {
  const outputs = await listOutputs(runtime, actor, scope)
  return Promise.all(
    outputs.map(async (output) => ({ output, latest: await latestOf(runtime, actor, output.id) })),
  )
}

export async function latestOf(runtime: CoreRuntime, actor: Actor, outputId: string): Promise<Delivery[]> {
  return (await listDeliveries(runtime, actor, { outputId, limit: LATEST })).data
}
