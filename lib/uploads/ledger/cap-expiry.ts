import { sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'

/** Only while it is as its first request left it: with the next bytes it has all of its time again. */
export async function capExpiry(db: Db, fileId: string, untilMs: number): Promise<void> {
  await db.execute(sql`update files
    set expires_at = least(expires_at, ${new Date(untilMs).toISOString()}::timestamptz)
    where id = ${fileId}::uuid and status = 'uploading' and lease_fence = 1 and lease_until is null`)
}
