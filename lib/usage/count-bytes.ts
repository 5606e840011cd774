import { type SQL, sql } from 'drizzle-orm'

/** The calendar month (UTC) that a byte of now counts in. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7)
}

/**
 * The part of a ledger statement that counts what the rest of it accepted. `moved` names a CTE of at most one row with
 * `workspace_id`, `pipe_id`, `reserved_month`, and the change of the file's reservation as `reserved_delta`. One
 * upsert for both months, since a row can be touched once in a statement; months and then days, in order, so that
 * no two statements wait for each other.
 */
export function countBytes(moved: SQL, bytes: number, nowMs: number): SQL {
  const month = monthOf(nowMs)
  const day = new Date(nowMs).toISOString().slice(0, 10)
  return sql`
    counted as (
      insert into usage_months as u (workspace_id, month, used_bytes, reserved_bytes)
      select workspace_id, month, sum(used), sum(reserved) from (
        select workspace_id, ${month} as month, ${bytes}::bigint as used, 0::bigint as reserved from ${moved}
        union all
        select workspace_id, coalesce(reserved_month, ${month}), 0, reserved_delta from ${moved}
      ) changes group by 1, 2 order by 2
      on conflict (workspace_id, month) do update set used_bytes = u.used_bytes + excluded.used_bytes,
        reserved_bytes = greatest(u.reserved_bytes + excluded.reserved_bytes, 0)
    ), counted_day as (
      insert into usage_days as u (workspace_id, pipe_id, day, bytes)
      select workspace_id, pipe_id, ${day}::date, ${bytes}::bigint from ${moved}
      on conflict (workspace_id, day, pipe_id) do update set bytes = u.bytes + excluded.bytes
    )`
}
