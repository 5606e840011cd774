import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { countBytes, counting, deltas } from '../../usage/count-bytes.ts'
import type { Fenced } from './lease-terms.ts'

/**
 * Lets go, and counts what the request brought. Numbers that were reserved and not used are given back: nothing is in
 * flight any more.
 */
export async function releaseLease(
  { db, clock }: { db: Db; clock: Clock },
  { fileId, fence }: Fenced,
  end: { usedPartNumber: number; interrupted: boolean },
): Promise<void> {
  const nowMs = clock.now()
  await rows(
    db,
    sql`
    with writer as (
      select id, reserved_bytes, counted_bytes from files
      where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null for update
    ), released as (
      update files f set lease_holder = null, lease_until = null,
        reserved_part_number = ${end.usedPartNumber}::int, interrupted = ${end.interrupted}::boolean,
        ${counting(sql`writer`, sql`f.offset_bytes`, nowMs)}
      from writer where f.id = writer.id
      returning ${deltas(sql`writer`)}
    ), ${countBytes(sql`released`, nowMs)}
    select 1`,
  )
}
