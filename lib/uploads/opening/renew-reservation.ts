import { reserveAgain } from '../ledger/reserve-again.ts'
import type { UploadContext } from '../upload-context.ts'
import type { OpenUpload } from './open-upload.ts'

/**
 * A reservation lapses when no bytes arrive for an hour, and other uploads may have used the quota since. So before
 * more bytes are accepted, quota for the missing ones is reserved again; if there is not enough, the request is
 * refused.
 */
export async function renewReservation(
  { db, clock, quota }: Pick<UploadContext, 'db' | 'clock' | 'quota'>,
  upload: OpenUpload,
): Promise<void> {
  const { lengthBytes, offsetBytes, reservationLapsed, workspaceId, lease } = upload
  if (!reservationLapsed || lengthBytes === null) return
  const missing = { workspaceId, restBytes: lengthBytes - offsetBytes }
  await reserveAgain(db, lease, missing, { quota, nowMs: clock.now() })
  upload.reservationLapsed = false
}
