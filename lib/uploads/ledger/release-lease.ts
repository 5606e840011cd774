import { sql } from 'drizzle-orm'
import type { Db } from '../../db/database.ts'
import type { Fenced } from './lease-terms.ts'

/** Lets go. Numbers that were reserved and not used are given back: nothing is in flight any more. */
export async function releaseLease(
  db: Db,
  { fileId, fence }: Fenced,
  end: { usedPartNumber: number; interrupted: boolean },
): Promise<void> {
  await db.execute(sql`
    update files set lease_holder = null, lease_until = null,
      reserved_part_number = ${end.usedPartNumber}::int, interrupted = ${end.interrupted}::boolean
    where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null`)
}
