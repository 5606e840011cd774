import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { lostLease } from './advance.ts'
import type { Fenced } from './lease-terms.ts'
import { type Asked, reserveRest } from './reserve-rest.ts'

/** An upload of unknown length has one from now on, and the bytes that it lacks are reserved. */
export async function recordLength(
  db: Db,
  { fileId, fence }: Fenced,
  { lengthBytes, restBytes }: { lengthBytes: number; restBytes: number },
  asked: Asked,
): Promise<void> {
  await db.transaction(async (tx) => {
    const [file] = await rows<{ workspaceId: string }>(
      tx,
      sql`update files set length_bytes = ${lengthBytes}::bigint, reserved_bytes = ${restBytes}::bigint,
          reserved_month = ${monthOf(asked.nowMs)}
        where id = ${fileId}::uuid and lease_fence = ${fence}::int and length_bytes is null
          and lease_until is not null and status = 'uploading'
        returning workspace_id as "workspaceId"`,
    )
    if (!file) throw lostLease()
    await reserveRest(tx, file.workspaceId, restBytes, asked)
  })
}
