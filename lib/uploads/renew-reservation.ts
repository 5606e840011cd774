import { sql } from 'drizzle-orm'
import { rows } from '../platform/db/database.ts'
import { monthOf } from '../workspace/usage/count-bytes.ts'
import { quotaExceeded, reserved } from '../workspace/usage/reserve.ts'
import { lostLease } from './ledger/advance.ts'
import type { OpenUpload } from './open-upload.ts'
import type { UploadContext } from './upload-context.ts'

/**
 * What was reserved lapses when no byte comes for long, and may have gone to others since. So the missing bytes are reserved
 * again, or refused, before the next one is accepted.
 */
export async function renewReservation(
  { db, clock, quota }: Pick<UploadContext, 'db' | 'clock' | 'quota'>,
  upload: OpenUpload,
): Promise<void> {
  const { lengthBytes, offsetBytes, lapsed, workspaceId, fileId, lease } = upload
  if (!lapsed || lengthBytes === null) return
  const nowMs = clock.now()
  const missing = lengthBytes - offsetBytes
  await db.transaction(async (tx) => {
    const renewed = await rows(
      tx,
      sql`update files set reserved_bytes = ${missing}::bigint, reserved_month = ${monthOf(nowMs)}
        where id = ${fileId}::uuid and lease_fence = ${lease.fence}::int and lease_until is not null
          and status = 'uploading' and reserved_bytes = 0
        returning 1`,
    )
    if (renewed.length === 0) throw lostLease()
    const granted = await rows(
      tx,
      sql`with ${reserved(workspaceId, missing, quota, nowMs)} select 1 from reserved`,
    )
    if (granted.length === 0) throw await quotaExceeded(tx, workspaceId, { ...quota, bytes: missing }, nowMs)
  })
  upload.lapsed = false
}
