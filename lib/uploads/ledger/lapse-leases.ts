import { sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'

/** For use when no node is running: lets every lease expire, so that it can be taken over at once. */
export async function lapseLeases(db: Db): Promise<void> {
  await db.execute(
    sql`update files set lease_until = now() - interval '1 second' where lease_until is not null`,
  )
}
