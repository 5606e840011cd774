import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'
import { type Asked, reserveRemaining } from './reserve-remaining.ts'

/** Sets the length of an upload whose length was unknown, and reserves quota for the missing bytes. */
export async function recordLength(
  db: Db,
  lease: Fenced,
  { lengthBytes, restBytes }: { lengthBytes: number; restBytes: number },
  asked: Asked,
): Promise<void> {
  await db.transaction(async (tx) => {
    const [file] = await rows<{ workspaceId: string }>(
      tx,
      sql`update files set length_bytes = ${lengthBytes}::bigint, reserved_bytes = ${restBytes}::bigint,
          reserved_month = ${monthOf(asked.nowMs)}
        where id = ${lease.fileId}::uuid and ${heldBy(lease)} and length_bytes is null
          and status = 'uploading'
        returning workspace_id as "workspaceId"`,
    )
    if (!file) throw lostLease()
    await reserveRemaining(tx, file.workspaceId, restBytes, asked)
  })
}
