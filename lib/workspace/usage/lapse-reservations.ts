import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { countBytes } from './count-bytes.ts'

const LAPSE_AFTER_MS = hours(1)
const BATCH = 500

/** Gives back the quota reserved for uploads that got no byte for an hour. It is reserved again when they continue. */
export async function lapseReservations({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const nowMs = clock.now()
  const before = new Date(nowMs - LAPSE_AFTER_MS).toISOString()
  const lapsed = await rows(
    db,
    sql`
    with idle as (
      select id, reserved_bytes from files
      where reserved_bytes > 0 and coalesce(last_byte_at, created_at) < ${before}::timestamptz
        and (lease_until is null or lease_until < now())
      limit ${BATCH}::int for update skip locked
    ), lapsed as (
      update files f set reserved_bytes = 0 from idle where f.id = idle.id
      returning f.id, f.workspace_id, f.pipe_id, f.reserved_month,
        0::bigint as counted_delta, -idle.reserved_bytes as reserved_delta
    ), ${countBytes(sql`lapsed`, nowMs)}
    select id from lapsed`,
  )
  return lapsed.length
}
