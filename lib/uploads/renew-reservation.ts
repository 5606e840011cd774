import { reserveAgain } from './ledger/reserve-again.ts'
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
  const { lengthBytes, offsetBytes, lapsed, workspaceId, lease } = upload
  if (!lapsed || lengthBytes === null) return
  const missing = { workspaceId, restBytes: lengthBytes - offsetBytes }
  await reserveAgain(db, lease, missing, { quota, nowMs: clock.now() })
  upload.lapsed = false
}
