import { sql } from 'drizzle-orm'
import type { AttemptTrigger } from '#drizzle/schema/webhooks.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import type { SealedSecrets } from '../outputs/signing-secrets.ts'

/** A delivery that no other process may attempt within `LEASE_MS`. */
export type Claimed = {
  deliveryId: string
  /** Identifies this attempt: its outcome is written only while the delivery still has this claim. */
  claim: string
  trigger: AttemptTrigger
  /** The number of this attempt, counted from 1. */
  attempt: number
  workspaceId: string
  pipeId: string
  eventId: string
  eventAt: Date
  body: string
  /** The id of the request that caused the event. */
  requestId: string | null
  traceparent: string | null
  /** Null if it was deleted. */
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

/** Longer than the longest attempt with its recording. If the process dies, the delivery is delayed by this at most. */
const LEASE_MS = seconds(30)

/**
 * Claims up to `count` due deliveries of each output in one statement, those that are due longest first. The commit
 * does not wait for the disk: if the database crashes and loses the claim, the delivery is simply due again. The array
 * keeps the planner, which expects more rows than there are, from scanning whole tables.
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
    select c.id, c.claimed_by, c.next_trigger, c.attempt_count, c.workspace_id, c.pipe_id, c.webhook_output_id,
      e.id as event_id, e.created_at as event_at, e.payload, e.request_id, e.traceparent, o.id as output_id, o.url, o.enabled, o.failing_since,
      o.secret_encrypted, o.headers_encrypted, o.previous_secret_encrypted, o.previous_secret_until
    from claimed c
    join events e on e.id = c.event_id
    left join webhook_outputs o on o.id = c.webhook_output_id`,
  )
  return found.map(toClaimed)
}

type Row = {
  id: string
  claimed_by: string
  next_trigger: AttemptTrigger
  attempt_count: number
  workspace_id: string
  pipe_id: string
  webhook_output_id: string
  event_id: string
  event_at: string | Date
  payload: string
  request_id: string | null
  traceparent: string | null
  output_id: string | null
  url: string
  enabled: boolean
  failing_since: string | Date | null
  secret_encrypted: string
  headers_encrypted: string | null
  previous_secret_encrypted: string | null
  previous_secret_until: string | Date | null
}

function toClaimed(row: Row): Claimed {
  const instant = (value: string | Date | null) => (value === null ? null : new Date(value))
  const output = row.output_id && {
    id: row.output_id,
    url: row.url,
    enabled: row.enabled,
    failingSince: instant(row.failing_since),
    secretEncrypted: row.secret_encrypted,
    headersEncrypted: row.headers_encrypted,
    previousSecretEncrypted: row.previous_secret_encrypted,
    previousSecretUntil: instant(row.previous_secret_until),
  }
  return {
    deliveryId: row.id,
    claim: row.claimed_by,
    trigger: row.next_trigger,
    attempt: row.attempt_count + 1,
    workspaceId: row.workspace_id,
    pipeId: row.pipe_id,
    eventId: row.event_id,
    eventAt: new Date(row.event_at),
    body: row.payload,
    requestId: row.request_id,
    traceparent: row.traceparent,
    output: output || null,
    outputId: row.webhook_output_id,
  }
}
