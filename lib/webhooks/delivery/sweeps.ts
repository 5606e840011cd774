import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { days, minutes, seconds } from '../../platform/kernel/clock.ts'
import { firstUuidAt } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Sweep } from '../../platform/sweeps/start-sweeps.ts'

/** A delivery that is due for this long without an attempt has no job. */
const GRACE_MS = seconds(5)
const MOST_OUTPUTS = 10_000
const KEEP_MS = days(30)
const PRUNE_AT_ONCE = 1000
const PRUNES_AT_ONCE = 20

type Needs = Pick<Runtime, 'db' | 'clock' | 'queue'>

export function webhookSweeps(runtime: Needs): Sweep[] {
  return [
    { name: 'webhooks due', everyMs: seconds(5), run: () => wakeDueOutputs(runtime) },
    { name: 'prune old webhook events', everyMs: minutes(1), run: () => pruneEvents(runtime) },
  ]
}

/**
 * Enqueues a job for each output that has something due: retries after a long wait, and deliveries that a crash left
 * without one. It steps from output to output along an index, so a million events for one dead receiver cost one step.
 */
export async function wakeDueOutputs({ db, clock, queue }: Needs): Promise<number> {
  const due = new Date(clock.now() - GRACE_MS).toISOString()
  const found = await rows<{ output_id: string; workspace_id: string }>(
    db,
    sql`with recursive waiting as (
      (select webhook_output_id as id from deliveries where state = 'pending' order by webhook_output_id limit 1)
      union all
      select (select d.webhook_output_id from deliveries d
        where d.state = 'pending' and d.webhook_output_id > waiting.id
        order by d.webhook_output_id limit 1)
      from waiting where waiting.id is not null
    )
    select waiting.id as output_id, first.workspace_id
    from waiting
    cross join lateral (
      select workspace_id from deliveries d
      where d.state = 'pending' and d.webhook_output_id = waiting.id and d.next_attempt_at <= ${due}::timestamptz
      order by d.next_attempt_at limit 1
    ) first
    limit ${MOST_OUTPUTS}`,
  )
  const jobs = found.map((row) => ({ data: { outputId: row.output_id, workspaceId: row.workspace_id } }))
  await queue.enqueueAll(db, 'webhook-attempt', jobs)
  return jobs.length
}

/** Attempts are kept for 30 days, then deliveries without any, then their events, in small batches. */
export async function pruneEvents({ db, clock }: Needs): Promise<number> {
  const cutoff = new Date(clock.now() - KEEP_MS)
  let all = 0
  for (const prune of [pruneAttempts, pruneDeliveries, pruneEmptyEvents]) {
    for (let batch = 0; batch < PRUNES_AT_ONCE; batch++) {
      const done = await prune(db, cutoff)
      all += done
      if (done < PRUNE_AT_ONCE) break
    }
  }
  return all
}

async function pruneAttempts(db: Db, cutoff: Date): Promise<number> {
  // An id of version 7 begins with its time, so the primary key is also the index by age.
  const oldest = firstUuidAt(cutoff.getTime())
  return count(
    db,
    sql`delete from attempts where id in (
    select id from attempts where id < ${oldest}::uuid order by id limit ${PRUNE_AT_ONCE}) returning 1`,
  )
}

async function pruneDeliveries(db: Db, cutoff: Date): Promise<number> {
  return count(
    db,
    sql`delete from deliveries where id in (
    select id from deliveries d
    where created_at < ${cutoff.toISOString()}::timestamptz and state <> 'pending'
      and not exists (select from attempts a where a.delivery_id = d.id)
    order by created_at limit ${PRUNE_AT_ONCE}) returning 1`,
  )
}

async function pruneEmptyEvents(db: Db, cutoff: Date): Promise<number> {
  return count(
    db,
    sql`delete from events where id in (
    select id from events e
    where created_at < ${cutoff.toISOString()}::timestamptz
      and not exists (select from deliveries d where d.event_id = e.id)
    order by created_at limit ${PRUNE_AT_ONCE}) returning 1`,
  )
}

async function count(db: Db, statement: ReturnType<typeof sql>): Promise<number> {
  return (await rows(db, statement)).length
}
