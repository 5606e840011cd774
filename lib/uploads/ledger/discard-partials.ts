import { sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'

/** Marks the objects of a final upload's pieces for deletion. Runs in the transaction that makes it `transferred`. */
export async function discardPartials(tx: Db, finalId: string, nowMs: number): Promise<void> {
  await tx.execute(sql`
    update file_destinations d set abort_pending = true, abort_at = ${new Date(nowMs).toISOString()}::timestamptz
    where d.file_id in (select unnest(concat_parts) from files where id = ${finalId}::uuid)`)
}
