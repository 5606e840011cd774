import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { COMPLETED_BY_CLIENT } from './completed-by-client.ts'

export const LATE_AT_ONCE = 100
/** Uploads expire earlier than this if their bucket deletes unfinished ones sooner. */
const MAX_AGE_DAYS = 30

/** A condition on a row of `files` that is `uploading`: it has expired, nobody is writing it, and it is incomplete. */
export function isLate(nowMs: number): SQL {
  return sql`expires_at <= ${new Date(nowMs).toISOString()}::timestamptz
    and (lease_until is null or lease_until < now()) and (offset_bytes is distinct from length_bytes or protocol = ${COMPLETED_BY_CLIENT})`
}

export function findLate(db: Db, nowMs: number): Promise<{ id: string; droppedAfterHours: number | null }[]> {
  return rows(
    db,
    sql`select id, case when expires_at = expires_by and expires_by < created_at + ${MAX_AGE_DAYS}::int * interval '1 day'
      then floor(extract(epoch from expires_by - created_at) / 3600)::int end as "droppedAfterHours"
    from files where status = 'uploading' and ${isLate(nowMs)} order by expires_at limit ${LATE_AT_ONCE}::int`,
  )
}

/** Once no partial upload of the same token has received bytes for this long, nobody is going to join them. */
const UNJOINED_MS = hours(6)

/** Retires finished partial uploads that nobody joined in time. Their objects are deleted. */
export async function retirePartials(db: Db, nowMs: number): Promise<number> {
  const now = new Date(nowMs).toISOString()
  const idleSince = new Date(nowMs - UNJOINED_MS).toISOString()
  const retired = await rows(
    db,
    sql`
    with late as (
      select id from files p where concat = 'partial' and status = 'transferred' and retired_at is null
        and (expires_at <= ${now}::timestamptz or not exists (
          select from files s where s.concat = 'partial' and s.retired_at is null and s.token_id = p.token_id
            and coalesce(s.last_byte_at, s.created_at) > ${idleSince}::timestamptz))
      limit ${LATE_AT_ONCE}::int for update skip locked
    ), retired as (update files f set retired_at = ${now}::timestamptz from late where f.id = late.id returning f.id)
    update file_destinations d set abort_pending = true, abort_at = ${now}::timestamptz from retired where d.file_id = retired.id returning d.file_id`,
  )
  return retired.length
}
