import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Bound } from '../part-numbers.ts'
import { lostLease } from './advance.ts'
import { boundColumns } from './bound-columns.ts'
import type { Fenced } from './lease-terms.ts'

/** Commits what the numbers of the next parts stand for, where no other statement could do it in passing. */
export async function bindParts(db: Db, { fileId, fence }: Fenced, bound: Bound): Promise<void> {
  const done = await rows(
    db,
    sql`update files set ${boundColumns(bound)}
      where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null
      returning id`,
  )
  if (done.length === 0) throw lostLease()
}
