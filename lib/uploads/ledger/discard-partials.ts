import { sql } from 'drizzle-orm'
import type { Db } from '../../db/database.ts'

/** In the transaction that makes a final upload `transferred`: its pieces are not needed any more, and nothing of them stays. */
export async function discardPartials(tx: Db, finalId: string, nowMs: number): Promise<void> {
  await tx.execute(sql`
    with pieces as (
      update files p set retired_at = ${new Date(nowMs).toISOString()}::timestamptz from files f
      where f.id = ${finalId}::uuid and p.id = any(f.concat_parts) and p.concat = 'partial' returning p.id
    )
    update file_destinations d set abort_pending = true from pieces where d.file_id = pieces.id`)
}
