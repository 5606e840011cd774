import { setTimeout as sleep } from 'node:timers/promises'
import { type SQL, sql } from 'drizzle-orm'
import { tallyWebhooks } from '../../events/tally.ts'
import { type Db, LIVE_CHANNEL, rows } from '../../platform/db/database.ts'
import { GATHER_WRITES_MS, inGroups } from '../../platform/db/in-groups.ts'
import { minutes, seconds } from '../../platform/kernel/clock.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { type TurningOff, turnOffOutput } from '../outputs/end-output.ts'
import type { Attempt } from './deliver.ts'

/**
 * A retry due within this time gets its own job. Later ones are left to the sweep, so that the queue does not have to
 * skip jobs that wait for days.
 */
const OWN_JOB_MS = minutes(1)

/** Records the outcome of some attempts, with all consequences. */
export async function recordAttempts(
  runtime: Pick<Runtime, 'db'> & TurningOff,
  made: Attempt[],
): Promise<void> {
  const { db, clock, queue } = runtime
  const now = new Date(clock.now())
  const soon = made.filter(
    ({ decision }) => decision.retryInMs !== undefined && decision.retryInMs <= OWN_JOB_MS,
  )
  // Nearly always, all consequences are in one statement, which needs no transaction around it.
  if (soon.length === 0 && made.every(({ decision }) => !decision.turnOff))
    return recordOutcomes(db, made, now)
  await db.transaction(async (tx) => {
    await recordOutcomes(tx, made, now)
    for (const { claimed, decision } of made) {
      if (decision.turnOff) await turnOffOutput(runtime, tx, claimed.output, decision.turnOff)
    }
    await queue.enqueueAll(
      tx,
      'webhook-attempt',
      soon.map(({ claimed, decision }) => ({
        data: { outputId: claimed.outputId, workspaceId: claimed.workspaceId },
        startAfter: nextAttemptAt(decision.retryInMs!, now),
      })),
    )
  })
}

/**
 * Adds the attempts, updates their deliveries and outputs, and notifies open pages. An attempt that has lost its claim
 * only counts if it succeeded while the delivery was still pending. The `array(…)` in the query keeps the planner, which
 * expects more attempts than there are, from scanning a month of deliveries.
 */
async function recordOutcomes(db: Db, made: Attempt[], now: Date): Promise<void> {
  await rows(
    db,
    sql`with r as materialized (
      select * from json_to_recordset(${JSON.stringify(made.map((one) => toRow(one, now)))}::json) as r(id uuid, claim uuid,
        state text, next timestamptz, attempt_id uuid, trigger text, at timestamptz, duration_ms int, url text,
        request_headers jsonb, status int, response_headers jsonb, response_body text, error text, error_detail text)
    ), attempted as (
      insert into attempts (id, delivery_id, trigger, at, duration_ms, url, request_headers, status, response_headers,
        response_body, error, error_detail)
      select attempt_id, id, trigger, at, duration_ms, url, request_headers, status, response_headers,
        response_body, error, error_detail from r
    ), before as materialized (
      select id, delivered_at from deliveries where id = any (array(select id from r))
    ), ended as (update deliveries d
      set state = r.state, attempt_count = d.attempt_count + 1, next_trigger = 'auto', next_attempt_at = r.next,
        claimed_by = null, claimed_until = null, last_status = r.status, last_error = r.error, url = r.url,
        delivered_at = case when r.state = 'delivered' then ${now.toISOString()}::timestamptz else d.delivered_at end
      from r join before using (id)
      where d.id = any (array(select id from r)) and d.id = r.id
        and (d.claimed_by = r.claim or (r.state = 'delivered' and d.state = 'pending'))
      returning d.workspace_id, d.pipe_id, d.state,
        d.test or (r.state = 'delivered' and before.delivered_at is not null) as uncounted
    ), ${tallyWebhooks(sql`ended`, now.getTime())}, ${noteHealth(made, now)}
    select pg_notify(${LIVE_CHANNEL}, workspace_id::text) from (select distinct workspace_id from ended) s`,
  )
}

function toRow({ claimed, atMs, durationMs, requestHeaders, outcome, decision }: Attempt, now: Date) {
  const { state, retryInMs, error = null } = decision
  const answer = outcome.status === undefined ? undefined : outcome
  return {
    id: claimed.deliveryId,
    claim: claimed.claim,
    state,
    next: retryInMs === undefined ? null : nextAttemptAt(retryInMs, now),
    attempt_id: uuidv7(atMs),
    trigger: claimed.trigger,
    at: new Date(atMs),
    duration_ms: durationMs,
    url: claimed.output.url,
    request_headers: requestHeaders,
    status: answer?.status ?? null,
    response_headers: answer?.headers ?? null,
    response_body: answer?.body ?? null,
    error,
    error_detail: outcome.detail ?? null,
  }
}

/**
 * CTEs that record when all attempts to an output started failing. Test events do not count. The row is used instead of
 * the values read by the claims, because other attempts may have ended in between. Among attempts recorded together,
 * the last one decides.
 */
function noteHealth(made: Attempt[], now: Date): SQL {
  const real = made.filter(({ claimed }) => claimed.trigger !== 'test')
  const delivered = (one: Attempt) => one.decision.state === 'delivered'
  const runs = Map.groupBy(real, ({ claimed }) => claimed.outputId)
  const health = [...runs].map(([id, run]) => ({
    id,
    broken: run.some(delivered),
    failing: !delivered(run.at(-1)!),
  }))
  return sql`changed as (
      select o.id, h.failing from webhook_outputs o
      join json_to_recordset(${JSON.stringify(health)}::json) as h(id uuid, broken bool, failing bool) on h.id = o.id
      where case when o.failing_since is null then h.failing else h.broken end
      order by o.id for no key update of o
    ), noted as (
      update webhook_outputs o set failing_since = case when c.failing then ${now.toISOString()}::timestamptz end
      from changed c where o.id = c.id
    )`
}

function nextAttemptAt(retryInMs: number, now: Date): Date {
  return new Date(now.getTime() + retryInMs)
}

/** Fails deliveries whose output is off or deleted. They can be resent once it is on again. */
export async function dropDeliveries(
  { db, clock }: CoreRuntime,
  dropped: { deliveryId: string; claim: string }[],
): Promise<void> {
  await rows(
    db,
    sql`with ended as (update deliveries d
      set state = 'failed', next_attempt_at = null, claimed_by = null, claimed_until = null, last_error = 'off', next_trigger = 'auto'
      from json_to_recordset(${JSON.stringify(dropped)}::json) as r("deliveryId" uuid, claim uuid)
      where d.id = r."deliveryId" and d.claimed_by = r.claim
      returning d.workspace_id, d.pipe_id, d.state, d.test as uncounted
    ), ${tallyWebhooks(sql`ended`, clock.now())}
    select from ended`,
  )
}

const AT_ONCE = 100
/**
 * The delays between retries. Together, they are much shorter than a claim: once a claim expires, another process
 * repeats the attempt.
 */
const WAITS_MS = [250, seconds(1), seconds(4)]

/**
 * Records attempts in batches. If a batch fails, each attempt is recorded separately, with a few retries: a brief
 * database outage must not cause duplicate events, and an attempt that cannot be recorded must not
 * affect the others.
 */
export function createRecorder<Attempt>(
  recordAll: (made: Attempt[]) => Promise<void>,
  pause: (ms: number) => Promise<unknown> = sleep,
): (attempt: Attempt) => Promise<void> {
  const together = inGroups<Attempt, void>(
    async (made) => {
      await recordAll(made)
      return made.map(() => undefined)
    },
    { most: AT_ONCE, gatherMs: GATHER_WRITES_MS },
  )
  const alone = async (attempt: Attempt): Promise<void> => {
    let fault: unknown
    for (const waitMs of WAITS_MS) {
      await pause(waitMs)
      try {
        return await recordAll([attempt])
      } catch (error) {
        fault = error
      }
    }
    throw fault
  }
  return (attempt) => together(attempt).catch(() => alone(attempt))
}
