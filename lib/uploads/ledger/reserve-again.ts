import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'
import { type Asked, reserveRemaining } from './reserve-remaining.ts'

/** Reserves the missing bytes of an upload again, after its reservation has lapsed. */
export async function reserveAgain(
  db: Db,
  lease: Fenced,
  { workspaceId, restBytes }: { workspaceId: string; restBytes: number },
  asked: Asked,
): Promise<void> {
  await db.transaction(async (tx) => {
    const renewed = await rows(
      tx,
      sql`update files set reserved_bytes = ${restBytes}::bigint, reserved_month = ${monthOf(asked.nowMs)}
        where id = ${lease.fileId}::uuid and ${heldBy(lease)}
          and status = 'uploading' and reserved_bytes = 0
        returning 1`,
    )
    if (renewed.length === 0) throw lostLease()
    await reserveRemaining(tx, workspaceId, restBytes, asked)
  })
}
