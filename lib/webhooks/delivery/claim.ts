import { sql } from 'drizzle-orm'
import type { AttemptTrigger } from '#drizzle/schema/webhooks.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import type { SealedSecrets } from '../outputs/signing-secrets.ts'

/** A delivery that no other process may attempt within `LEASE_MS`. */
export type Claimed = {
  deliveryId: string
  /** Identifies this attempt: its outcome is only written while the delivery still has this claim. */
  claim: string
  trigger: AttemptTrigger
  /** The number of this attempt, starting at 1. */
  attempt: number
  workspaceId: string
  pipeId: string
  eventId: string
  eventAt: Date
  body: string
  /** The id of the request that caused the event. */
  requestId: string | null
  traceparent: string | null
  /** Null if the output was deleted. */
  output:
    | (SealedSecrets & {
        id: string
        url: string
        enabled: boolean
        failingSince: Date | null
        headersEncrypted: string | null
      })
    | null
  outputId: string
}

/**
 * Longer than the longest attempt, including the time it takes to record its outcome. If the process dies, the delivery
 * is delayed by at most this time.
 */
const LEASE_MS = seconds(30)

/**
 * Claims up to `count` due deliveries of each output in one statement, longest overdue first. The commit does not wait
 * for the disk: if the database crashes and loses the claim, the delivery is simply due again. The `array(…)` in the
 * query keeps the planner, which expects more rows than there are, from scanning entire tables.
 */
export async function claimDeliveries(
  db: Db,
  wanted: { outputId: string; count: number }[],
  nowMs: number,
): Promise<Claimed[]> {
  const now = new Date(nowMs).toISOString()
  const until = new Date(nowMs + LEASE_MS).toISOString()
  const found = await rows<Row>(
    db,
    sql`with relaxed as materialized (select set_config('synchronous_commit', 'off', true)),
    due as materialized (
      select d.id
      from relaxed
      cross join json_to_recordset(${JSON.stringify(wanted)}::json) as w("outputId" uuid, count int)
      cross join lateral (
        select id from deliveries
        where webhook_output_id = w."outputId" and state = 'pending' and next_attempt_at <= ${now}::timestamptz
        order by next_attempt_at limit w.count
        for update skip locked
      ) d
    ),
    claimed as (
      update deliveries
      set claimed_by = gen_random_uuid(), claimed_until = ${until}::timestamptz, next_attempt_at = ${until}::timestamptz
      where id = any (array(select id from due))
      returning *
    )
    select c.id as "deliveryId", c.claimed_by as claim, c.next_trigger as trigger, c.attempt_count + 1 as attempt,
      c.workspace_id as "workspaceId", c.pipe_id as "pipeId", c.webhook_output_id as "outputId",
      e.id as "eventId", e.created_at as "eventAt", e.payload as body, e.request_id as "requestId", e.traceparent,
      o.id, o.url, o.enabled, o.failing_since as "failingSince", o.headers_encrypted as "headersEncrypted",
      o.secret_encrypted as "secretEncrypted", o.previous_secret_encrypted as "previousSecretEncrypted",
      o.previous_secret_until as "previousSecretUntil"
    from claimed c
    join events e on e.id = c.event_id
    left join webhook_outputs o on o.id = c.webhook_output_id`,
  )
  return found.map(toClaimed)
}

/** Despite these types, the query returns timestamps as strings. */
type Row = Omit<Claimed, 'output'> & Omit<NonNullable<Claimed['output']>, 'id'> & { id: string | null }

function toClaimed(row: Row): Claimed {
  const { id, url, enabled, failingSince, headersEncrypted, ...rest } = row
  const { secretEncrypted, previousSecretEncrypted, previousSecretUntil, ...claim } = rest
  const instant = (value: Date | null) => (value === null ? null : new Date(value))
  const output = id !== null && {
    id,
    url,
    enabled,
    failingSince: instant(failingSince),
    headersEncrypted,
    secretEncrypted,
    previousSecretEncrypted,
    previousSecretUntil: instant(previousSecretUntil),
  }
  return { ...claim, eventAt: new Date(claim.eventAt), output: output || null }
}
