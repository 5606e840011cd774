import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { lostLease } from './advance.ts'
import type { Fenced } from './lease-terms.ts'
import { type Asked, reserveRest } from './reserve-rest.ts'

/** Reserves the bytes that an upload lacks once more, after its reservation has lapsed. */
export async function reserveAgain(
  db: Db,
  { fileId, fence }: Fenced,
  { workspaceId, restBytes }: { workspaceId: string; restBytes: number },
  asked: Asked,
): Promise<void> {
  await db.transaction(async (tx) => {
    const renewed = await rows(
      tx,
      sql`update files set reserved_bytes = ${restBytes}::bigint, reserved_month = ${monthOf(asked.nowMs)}
        where id = ${fileId}::uuid and lease_fence = ${fence}::int and lease_until is not null
          and status = 'uploading' and reserved_bytes = 0
        returning 1`,
    )
    if (renewed.length === 0) throw lostLease()
    await reserveRest(tx, workspaceId, restBytes, asked)
  })
}
