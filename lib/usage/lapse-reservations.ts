import { sql } from 'drizzle-orm'
import { type Db, rows } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { hours } from '../kernel/clock.ts'

const LAPSE_AFTER_MS = hours(1)
const BATCH = 500

/** Gives back what was reserved for uploads that had no byte for an hour. It is reserved again when they go on. */
export async function lapseReservations({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const before = new Date(clock.now() - LAPSE_AFTER_MS).toISOString()
  const lapsed = await rows(
    db,
    sql`
    with idle as (
      select id, workspace_id, reserved_month, reserved_bytes from files
      where reserved_bytes > 0 and coalesce(last_byte_at, created_at) < ${before}::timestamptz
        and (lease_until is null or lease_until < now())
      limit ${BATCH}::int for update skip locked
    ), lapsed as (
      update files f set reserved_bytes = 0 from idle where f.id = idle.id
      returning f.id, idle.workspace_id, idle.reserved_month, idle.reserved_bytes
    ), given_back as (
      update usage_months u set reserved_bytes = greatest(u.reserved_bytes - sums.bytes, 0)
      from (select workspace_id, reserved_month, sum(reserved_bytes) as bytes from lapsed group by 1, 2) sums
      where u.workspace_id = sums.workspace_id and u.month = sums.reserved_month
    )
    select id from lapsed`,
  )
  return lapsed.length
}
