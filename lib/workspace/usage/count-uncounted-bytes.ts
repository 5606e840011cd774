import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { countBytes, counting, deltas } from './count-bytes.ts'

const BATCH = sql.raw('500')

/**
 * Counts the durable bytes of requests whose process died before it had counted them. PostgreSQL cannot know how few they are: with
 * the order of their index, and a batch that it knows when it plans, it looks into that and not through ten million files.
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
