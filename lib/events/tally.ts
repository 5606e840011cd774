import { type SQL, sql } from 'drizzle-orm'

/**
 * Statistics: each occurrence is recorded as a separate row, in the statement that causes it, so that no statement
 * waits for another, as it would for a shared counter. `foldTallies` counts these rows a few seconds later.
 */

/**
 * A CTE that records files that have just ended. `ended` is a CTE with their `workspace_id`, `pipe_id`, `status`,
 * `decision`, `concat`, `offset_bytes`, `created_at` and `sender_id`. A file that the customer's hook rejected is not recorded: it
 * ended as intended, and would otherwise count as a failure.
 */
export function tallyFiles(ended: SQL, nowMs: number): SQL {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return sql`
    tallied as (
      insert into tallies (workspace_id, pipe_id, what, at, bytes, took_ms, sender_id)
      select workspace_id, pipe_id, case when ${hasObject} then 'transferred' else status end, ${now},
        case when ${hasObject} then offset_bytes else 0 end,
        greatest(extract(epoch from ${now} - created_at) * 1000, 0)::bigint, case when ${hasObject} then sender_id end
      from ${ended} where concat is distinct from 'partial' and decision is distinct from 'rejected'
    )`
}

/** True if every required destination has the object. */
const hasObject = sql`status in ('transferred', 'partially_transferred')`

/**
 * A CTE that records webhook deliveries that have just ended. `ended` is a CTE with their `workspace_id`, `pipe_id`,
 * `state`, and whether they are `uncounted`: tests, and deliveries that were delivered before and sent again. Deliveries
 * that will be retried have not ended.
 */
export function tallyWebhooks(ended: SQL, nowMs: number): SQL {
  return sql`
    tallied as (
      insert into tallies (workspace_id, pipe_id, what, at)
      select workspace_id, pipe_id, case state when 'delivered' then 'delivered' else 'undelivered' end,
        ${new Date(nowMs).toISOString()}::timestamptz
      from ${ended} where state <> 'pending' and not uncounted
    )`
}
