import { sql } from 'drizzle-orm'
import { rows } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { monthOf } from '../workspace/usage/count-bytes.ts'
import { quotaExceeded, reserved } from '../workspace/usage/reserve.ts'
import { lostLease } from './ledger/advance.ts'
import { tooLarge } from './may-create.ts'
import type { OpenUpload } from './open-upload.ts'
import type { UploadContext } from './upload-context.ts'

/** TUS 1.0.0, Creation With Deferred Length: "Once set the length MUST NOT be changed." The missing bytes are reserved. */
export async function declareLength(
  { db, clock, quota }: Pick<UploadContext, 'db' | 'clock' | 'quota'>,
  upload: OpenUpload,
  { lengthBytes, maxBytes }: { lengthBytes: number; maxBytes: number },
): Promise<void> {
  if (upload.lengthBytes !== null)
    throw new SluiceError('invalid_header', `Upload-Length was ${upload.lengthBytes}, and cannot be changed.`)
  if (lengthBytes < upload.offsetBytes)
    throw new SluiceError(
      'invalid_header',
      `Upload-Length is less than the ${upload.offsetBytes} bytes that are here.`,
    )
  if (lengthBytes > maxBytes) throw tooLarge(maxBytes)
  const nowMs = clock.now()
  const rest = lengthBytes - upload.offsetBytes
  await db.transaction(async (tx) => {
    const [file] = await rows<{ workspaceId: string }>(
      tx,
      sql`update files set length_bytes = ${lengthBytes}::bigint, reserved_bytes = ${rest}::bigint,
          reserved_month = ${monthOf(nowMs)}
        where id = ${upload.fileId}::uuid and lease_fence = ${upload.lease.fence}::int and length_bytes is null
          and lease_until is not null and status = 'uploading'
        returning workspace_id as "workspaceId"`,
    )
    if (!file) throw lostLease()
    const granted = await rows(
      tx,
      sql`with ${reserved(file.workspaceId, rest, quota, nowMs)} select 1 from reserved`,
    )
    if (granted.length === 0)
      throw await quotaExceeded(tx, file.workspaceId, { ...quota, bytes: rest }, nowMs)
  })
  upload.lengthBytes = lengthBytes
}
