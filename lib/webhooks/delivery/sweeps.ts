import { sql } from 'drizzle-orm'
import { fanOutEvents } from '../../events/fan-out.ts'
import { EVENTS_KEPT_MS } from '../../events/read-events.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Kept, keepMonths, monthsOf } from '../../platform/db/months.ts'
import { minutes, seconds } from '../../platform/kernel/clock.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import type { Sweep } from '../../platform/sweeps.ts'

/** A delivery that has been due for this long without an attempt is assumed to have no job. */
const GRACE_MS = seconds(5)
const MAX_OUTPUTS = 10_000

type SweepRuntime = Pick<Runtime, 'db' | 'clock' | 'queue'>

export function webhookSweeps(runtime: SweepRuntime): Sweep[] {
  return [
    { name: 'due webhooks', everyMs: seconds(5), run: () => wakeDueOutputs(runtime) },
    { name: 'events of older nodes', everyMs: seconds(1), run: () => fanOutEvents(runtime) },
    { name: 'indexes of monthly tables', everyMs: minutes(10), run: () => indexMonths(runtime.db) },
    { name: 'monthly events', everyMs: minutes(10), run: () => keepEvents(runtime) },
  ]
}

/**
 * Enqueues a job for each output with due deliveries: retries after a long wait, and deliveries whose job was lost in
 * a crash. The query uses an index to go from output to output, so a million events for one dead receiver cost one
 * step.
 */
export async function wakeDueOutputs({ db, clock, queue }: SweepRuntime): Promise<number> {
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
    limit ${MAX_OUTPUTS}`,
  )
  const jobs = found.map((row) => ({ data: { outputId: row.output_id, workspaceId: row.workspace_id } }))
  await queue.enqueueAll(db, 'webhook-attempt', jobs)
  return jobs.length
}

/**
 * A month is dropped once none of its deliveries is pending. Pending deliveries succeed or fail within days, because
 * older ones cannot be resent.
 */
export const EVENTS: Kept = {
  tables: ['events', 'deliveries', 'attempts'],
  keptMs: EVENTS_KEPT_MS,
  inUse: (month) =>
    sql`select from ${sql.identifier(`deliveries_${month}`)} where state = 'pending' order by webhook_output_id limit 1`,
}

export const keepEvents = ({ db, clock }: CoreRuntime): Promise<number> => keepMonths(db, EVENTS, clock.now())

const SUFFIX = 'by_output'

/**
 * An output's log uses an index. PostgreSQL cannot build one on a partitioned table while others write to it, so each
 * month gets its own, built concurrently: for the current month when this first runs, and for each later month while
 * it is empty.
 */
export async function indexMonths(db: Db): Promise<number> {
  let built = 0
  for (const month of [...(await monthsOf(db, 'deliveries')), 'default']) {
    const table = `deliveries_${month}`
    const name = `${table}_${SUFFIX}`
    const [index] = await rows<{ valid: boolean; building: boolean }>(
      db,
      sql`select indisvalid as valid, exists (select from pg_stat_progress_create_index p
        where p.index_relid = indexrelid) as building
      from pg_index join pg_class on pg_class.oid = indexrelid where relname = ${name}`,
    )
    if (index?.valid || index?.building) continue
    // An index whose build was interrupted by a crash is useless.
    if (index) await db.execute(sql`drop index concurrently if exists ${sql.identifier(name)}`)
    await db.execute(
      sql`create index concurrently if not exists ${sql.identifier(name)} on ${sql.identifier(table)} (webhook_output_id, id)`,
    )
    built += 1
  }
  return built
}
