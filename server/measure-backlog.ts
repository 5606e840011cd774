import { type SQL, sql } from 'drizzle-orm'
import { rows } from '../lib/platform/db/database.ts'
import { seconds } from '../lib/platform/kernel/clock.ts'
import type { Runtime } from '../lib/platform/runtime.ts'
import type { Sweep } from '../lib/platform/sweeps.ts'

type BacklogRuntime = Pick<Runtime, 'db' | 'clock' | 'metrics'>

/** Counting stops at this number, because larger numbers need not be exact. */
const MOST = 100_000
const MAX_OUTPUTS = 10_000
const MAX_TAILED = 1000
const AGES = ['minute', 'hour', 'day', 'older'] as const

/** Measures the backlog in the database. The metrics of all workers show the same values. */
export function backlogSweep(runtime: BacklogRuntime): Sweep {
  return { name: 'backlog', everyMs: seconds(15), run: () => measureBacklog(runtime) }
}

export async function measureBacklog(runtime: BacklogRuntime): Promise<number> {
  await Promise.all([
    measureDeliveries(runtime),
    measureOldestDue(runtime),
    measureQueue(runtime),
    measureUploads(runtime),
    measureTails(runtime),
    measureConnections(runtime),
  ])
  runtime.metrics.backlogMeasured.set(runtime.clock.now() / 1000)
  return 0
}

async function measureDeliveries({ db, clock, metrics }: BacklogRuntime): Promise<void> {
  const since = (interval: string) => sql`created_at > ${at(clock.now())} - interval '${sql.raw(interval)}'`
  const found = await rows<{ age: (typeof AGES)[number]; count: number }>(
    db,
    sql`select case when ${since('1 minute')} then 'minute' when ${since('1 hour')} then 'hour'
        when ${since('1 day')} then 'day' else 'older' end as age, count(*)::int as count
      from (select created_at from deliveries where state = 'pending' limit ${MOST}::int) pending group by 1`,
  )
  for (const age of AGES)
    metrics.deliveriesPending.set({ age }, found.find((one) => one.age === age)?.count ?? 0)
}

/** Uses an index to go from output to output, like the sweep that starts due deliveries. */
async function measureOldestDue({ db, clock, metrics }: BacklogRuntime): Promise<void> {
  const [oldest] = await rows<{ seconds: number | null }>(
    db,
    sql`with recursive waiting as (
      (select webhook_output_id as id from deliveries where state = 'pending' order by webhook_output_id limit 1)
      union all
      select (select d.webhook_output_id from deliveries d
        where d.state = 'pending' and d.webhook_output_id > waiting.id order by d.webhook_output_id limit 1)
      from waiting where waiting.id is not null
    )
    select ${ageOf(sql`min(first.next_attempt_at)`, clock.now())} as seconds
    from (select id from waiting where id is not null limit ${MAX_OUTPUTS}::int) output
    cross join lateral (
      select next_attempt_at from deliveries d where d.state = 'pending' and d.webhook_output_id = output.id
      order by d.next_attempt_at limit 1
    ) first`,
  )
  metrics.deliveriesOldestDue.set(Math.max(oldest?.seconds ?? 0, 0))
}

async function measureQueue({ db, metrics }: BacklogRuntime): Promise<void> {
  const found = await rows<{ name: string; count: number }>(
    db,
    sql`select queue.name, (select count(*)::int from (
        select from pgboss.job where name = queue.name and state < 'active' and start_after <= now()
        limit ${MOST}::int) due) as count
      from pgboss.queue where queue.name not like '\\_\\_%'`,
  )
  for (const { name, count } of found) metrics.queueJobs.set({ queue: name }, count)
}

async function measureUploads({ db, metrics }: BacklogRuntime): Promise<void> {
  for (const status of ['uploading', 'transferring']) {
    const [found] = await rows<{ count: number }>(
      db,
      sql`select count(*)::int as count
        from (select from files where status = ${status} and lane_of is null limit ${MOST}::int) unfinished`,
    )
    metrics.uploadsUnfinished.set({ status }, found!.count)
  }
}

/**
 * A `transferring` file waits for its bucket, unless a hook decides on it. Any other file waits for its client; of
 * these, only the oldest are examined.
 */
async function measureTails({ db, clock, metrics }: BacklogRuntime): Promise<void> {
  const age = ageOf(sql`min(coalesce(last_byte_at, created_at))`, clock.now())
  const [found] = await rows<Record<'transferring' | 'uploading', number | null>>(
    db,
    sql`select (select ${age} from (
        select last_byte_at, created_at from files f
          cross join lateral (select from upload_tails where file_id = f.id limit 1) tail
        where status = 'transferring' and (decision is null or decision = 'allowed') limit ${MOST}::int) waiting) as transferring,
      (select ${age} from (select distinct file_id from upload_tails order by file_id limit ${MAX_TAILED}::int) tailed
        cross join lateral (
          select last_byte_at, created_at from files where id = tailed.file_id and status = 'uploading' limit 1) f) as uploading`,
  )
  for (const status of ['uploading', 'transferring'] as const)
    metrics.tailOldest.set({ status }, found![status] ?? 0)
}

/** Counts the connections of all nodes, and of everything else that uses the server. */
async function measureConnections({ db, metrics }: BacklogRuntime): Promise<void> {
  const [found] = await rows<{ busy: number; idle: number; most: number }>(
    db,
    sql`select count(*) filter (where state is distinct from 'idle')::int as busy,
        count(*) filter (where state = 'idle')::int as idle,
        current_setting('max_connections')::int as most
      from pg_stat_activity where backend_type = 'client backend'`,
  )
  metrics.databaseConnections.set({ state: 'busy' }, found!.busy)
  metrics.databaseConnections.set({ state: 'idle' }, found!.idle)
  metrics.databaseConnectionsLimit.set(found!.most)
}

const at = (nowMs: number): SQL => sql`${new Date(nowMs).toISOString()}::timestamptz`
const ageOf = (since: SQL, nowMs: number): SQL => sql`extract(epoch from ${at(nowMs)} - ${since})::float8`
