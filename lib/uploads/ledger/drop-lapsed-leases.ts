import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

/**
 * For a restored database. An upload that ends while leased may have left an object, which is deleted if the credentials
 * allow it. After a restore that object can be a file that was delivered since the backup, so expired leases are dropped.
 */
export async function dropLapsedLeases(db: Db): Promise<number> {
  const dropped = await rows(
    db,
    sql`update files set lease_holder = null, lease_until = null, interrupted = true
      where status = 'uploading' and lease_until < now() returning id`,
  )
  return dropped.length
}
