import { sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'

/**
 * Lets the upload expire earlier, if no request has written to it since the first. The next bytes restore its full
 * time.
 */
export async function capExpiry(db: Db, fileId: string, untilMs: number): Promise<void> {
  await db.execute(sql`update files
    set expires_at = least(expires_at, ${new Date(untilMs).toISOString()}::timestamptz)
    where id = ${fileId}::uuid and status = 'uploading' and lease_fence = 1 and lease_until is null`)
}
