import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import type { BucketRefusal } from '../bucket-port.ts'
import type { Bound } from '../part-numbers.ts'
import { boundColumns } from './bound-columns.ts'
import type { Fenced } from './lease-terms.ts'
import { noteRefusal } from './note-refusal.ts'

export type Release = { bound?: Bound; interrupted: boolean; refusal?: BucketRefusal | undefined }

/**
 * Releases the lease, and counts what the request brought. `bound` is what has to stay bound of the part numbers: those
 * that may be on their way to the bucket. Why the bucket refused goes to the timeline.
 */
export async function releaseLease(
  { db, clock }: { db: Db; clock: Clock },
  { fileId, fence }: Fenced,
  end: Release,
): Promise<void> {
  const nowMs = clock.now()
  const bound = end.bound ? sql` ${boundColumns(end.bound)},` : sql``
  const noted = end.refusal ? sql`, ${noteRefusal(end.refusal, nowMs)}` : sql``
  await rows(
    db,
    sql`
    with writer as (
      select id, reserved_bytes, counted_bytes from files
      where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null for update
    ), released as (
      update files f set lease_holder = null, lease_until = null,
        interrupted = ${end.interrupted}::boolean,${bound}
        ${counting(sql`writer`, sql`f.offset_bytes`, nowMs)}
      from writer where f.id = writer.id
      returning f.id, f.offset_bytes, ${deltas(sql`writer`)}
    ), ${countBytes(sql`released`, nowMs)}${noted}
    select 1`,
  )
}
