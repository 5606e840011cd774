import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Bound } from '../rules/part-numbers.ts'
import { boundColumns } from './bound-columns.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'

/** Binds the numbers of the next parts to their ranges, if no other statement has done so. */
export async function bindParts(db: Db, lease: Fenced, bound: Bound): Promise<void> {
  const done = await rows(
    db,
    sql`update files set ${boundColumns(bound)}
      where id = ${lease.fileId}::uuid and ${heldBy(lease)}
      returning id`,
  )
  if (done.length === 0) throw lostLease()
}
