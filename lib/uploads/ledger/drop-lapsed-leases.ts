import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

/**
 * For a restored database: drops expired leases. When an upload ends while it is leased, the object that its writer may
 * have made is deleted. After a restore, that object may be a file that was delivered since the backup.
 */
export async function dropLapsedLeases(db: Db): Promise<number> {
  const dropped = await rows(
    db,
    sql`update files set lease_holder = null, lease_until = null, interrupted = true
      where status = 'uploading' and lease_until < now() returning id`,
  )
  return dropped.length
}
