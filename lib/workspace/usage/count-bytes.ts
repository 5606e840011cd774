import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'

/** The calendar month (UTC) that bytes arriving now count toward. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7)
}

/**
 * CTEs for a ledger statement that count the bytes that files have gained since they were last counted. `moved` is a
 * CTE of files with `workspace_id`, `pipe_id`, `reserved_month`, and the changes as `counted_delta` and
 * `reserved_delta`. All files in a workspace update the same row for the month, so this happens once per request
 * instead of once per part. One upsert covers both months, since a statement can only update a row once. To prevent
 * deadlocks, rows are updated in order, months before days: the CTE for the days reads from the one for the months,
 * since PostgreSQL would otherwise run the last CTE first.
 */
export function countBytes(moved: SQL, nowMs: number): SQL {
  const month = monthOf(nowMs)
  const day = new Date(nowMs).toISOString().slice(0, 10)
  return sql`
    counted as (
      insert into usage_months as u (workspace_id, month, used_bytes, reserved_bytes)
      select workspace_id, month, sum(used), sum(reserved) from (
        select workspace_id, ${month} as month, counted_delta as used, 0::bigint as reserved from ${moved}
        where counted_delta <> 0
        union all
        select workspace_id, coalesce(reserved_month, ${month}), 0, reserved_delta from ${moved}
        where reserved_delta <> 0
      ) changes group by 1, 2 order by 1, 2
      on conflict (workspace_id, month) do update set used_bytes = u.used_bytes + excluded.used_bytes,
        reserved_bytes = greatest(u.reserved_bytes + excluded.reserved_bytes, 0)
      returning 1
    ), counted_day as (
      insert into usage_days as u (workspace_id, pipe_id, day, bytes)
      select workspace_id, pipe_id, ${day}::date, sum(counted_delta) from ${moved}
      where counted_delta <> 0 and (select count(*) from counted) > 0 group by 1, 2 order by 1, 2
      on conflict (workspace_id, day, pipe_id) do update set bytes = u.bytes + excluded.bytes
    )`
}

/**
 * Assignments that accompany `countBytes` in the update of a file `f`, whose previous row is `was`. A lapsed
 * reservation stays lapsed: only a quota check renews it.
 */
export function counting(was: SQL, offsetBytes: SQL, nowMs: number): SQL {
  return sql`counted_bytes = ${offsetBytes},
    reserved_bytes = case when ${was}.reserved_bytes = 0 then 0
      else greatest(coalesce(f.length_bytes, 0) - ${offsetBytes}, 0) end,
    reserved_month = case when ${was}.reserved_bytes = 0 then ${monthOf(nowMs)} else f.reserved_month end`
}

/** The columns that an update with `counting` returns for `countBytes`. */
export function deltas(was: SQL): SQL {
  return sql`f.workspace_id, f.pipe_id, f.reserved_month, f.counted_bytes - ${was}.counted_bytes as counted_delta,
    f.reserved_bytes - ${was}.reserved_bytes as reserved_delta`
}

const BATCH = sql.raw('500')

/**
 * Counts the durable bytes of requests whose process died before it had counted them. PostgreSQL cannot estimate how
 * few files have such bytes. Sorting by id, in the order of these files' index, with a batch size known at planning
 * time, makes PostgreSQL use that index instead of reading ten million files.
 */
export async function countUncountedBytes({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const nowMs = clock.now()
  const counted = await rows(
    db,
    sql`
    with dead as (
      select id, reserved_bytes, counted_bytes from files
      where counted_bytes < offset_bytes and (lease_until is null or lease_until < now())
      order by id limit ${BATCH} for update skip locked
    ), moved as (
      update files f set ${counting(sql`dead`, sql`f.offset_bytes`, nowMs)} from dead where f.id = dead.id
      returning f.id, ${deltas(sql`dead`)}
    ), ${countBytes(sql`moved`, nowMs)}
    select id from moved`,
  )
  return counted.length
}
