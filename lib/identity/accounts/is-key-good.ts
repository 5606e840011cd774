import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

/** For what goes on long after the key was shown. */
export async function isKeyGood(db: Db, keyId: string): Promise<boolean> {
  const found = await rows(db, sql`select from account_keys where id = ${keyId}::uuid and revoked_at is null`)
  return found.length > 0
}
