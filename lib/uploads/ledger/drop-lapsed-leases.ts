import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

/**
 * An upload that ends with a lease may have left an object, which is deleted where the keys may. Of a lease that a backup
 * brought along that object can be a file that was delivered since, so it goes.
 */
export async function dropLapsedLeases(db: Db): Promise<number> {
  const dropped = await rows(
    db,
    sql`update files set lease_holder = null, lease_until = null, interrupted = true
      where status = 'uploading' and lease_until < now() returning id`,
  )
  return dropped.length
}
