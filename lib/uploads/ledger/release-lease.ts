import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { countBytes, counting, deltas } from '../../workspace/usage/count-bytes.ts'
import type { BucketRefusal } from '../bucket-port.ts'
import type { Bound } from '../rules/part-numbers.ts'
import { boundColumns } from './bound-columns.ts'
import { type Fenced, heldBy } from './lease-terms.ts'
import { noteRefusal } from './note-refusal.ts'

export type Release = {
  /** The part numbers that must stay bound, since their parts may be on their way to the bucket. */
  bound?: Bound
  interrupted: boolean
  /** Goes to the timeline. */
  refusal?: BucketRefusal | undefined
  /** The bucket has certainly not made the object. */
  completeRefused?: boolean | undefined
}

/** Releases the lease, and counts the bytes that the request brought. */
export async function releaseLease(
  { db, clock }: { db: Db; clock: Clock },
  lease: Fenced,
  end: Release,
): Promise<void> {
  const nowMs = clock.now()
  const bound = end.bound ? sql` ${boundColumns(end.bound)},` : sql``
  const refused = end.completeRefused ? sql` complete_refused = true,` : sql``
  const noted = end.refusal ? sql`, ${noteRefusal(end.refusal, nowMs)}` : sql``
  await rows(
    db,
    sql`
    with writer as (
      select id, reserved_bytes, counted_bytes from files
      where id = ${lease.fileId}::uuid and ${heldBy(lease)} for update
    ), released as (
      update files f set lease_holder = null, lease_until = null,
        interrupted = ${end.interrupted}::boolean,${bound}${refused}
        ${counting(sql`writer`, sql`f.offset_bytes`, nowMs)}
      from writer where f.id = writer.id
      returning f.id, f.offset_bytes, ${deltas(sql`writer`)}
    ), ${countBytes(sql`released`, nowMs)}${noted}
    select 1`,
  )
}
