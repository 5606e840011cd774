import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

/** The lease of an unfinished upload; `leased` if somebody holds it and it has not expired. */
export async function readLease(
  db: Db,
  fileId: string,
): Promise<{ fence: number; leased: boolean } | undefined> {
  const [found] = await rows<{ fence: number; leased: boolean }>(
    db,
    sql`select lease_fence as fence, coalesce(lease_until > now(), false) as leased from files
      where id = ${fileId}::uuid and status = 'uploading'`,
  )
  return found
}
