import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'
import { lostLease } from './advance.ts'
import type { Fenced } from './lease-terms.ts'

/** Part numbers up to `upTo` may be in flight from now on; the next lease starts above. */
export async function reserveNumbers(db: Db, { fileId, fence }: Fenced, upTo: number): Promise<void> {
  const reserved = await rows(
    db,
    sql`update files set reserved_part_number = greatest(reserved_part_number, ${upTo}::int)
      where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null
      returning id`,
  )
  if (reserved.length === 0) throw lostLease()
}
