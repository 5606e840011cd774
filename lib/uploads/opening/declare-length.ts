import { SluiceError } from '../../platform/kernel/errors.ts'
import { recordLength } from '../ledger/record-length.ts'
import { reserveAgain } from '../ledger/reserve-again.ts'
import type { UploadContext } from '../upload-context.ts'
import { tooLarge } from './may-create.ts'
import type { OpenUpload } from './open-upload.ts'

/**
 * TUS 1.0.0, Creation With Deferred Length: "Once set the length MUST NOT be changed." The missing bytes are reserved.
 */
export async function declareLength(
  { db, clock, quota }: Pick<UploadContext, 'db' | 'clock' | 'quota'>,
  upload: OpenUpload,
  { lengthBytes, maxBytes }: { lengthBytes: number; maxBytes: number },
): Promise<void> {
  if (upload.lengthBytes !== null)
    throw new SluiceError('invalid_header', `Upload-Length was ${upload.lengthBytes} and cannot be changed.`)
  if (lengthBytes < upload.offsetBytes)
    throw new SluiceError(
      'invalid_header',
      `Upload-Length is less than the ${upload.offsetBytes} bytes received so far.`,
    )
  if (lengthBytes > maxBytes) throw tooLarge(maxBytes)
  await recordLength(
    db,
    upload.lease,
    { lengthBytes, restBytes: lengthBytes - upload.offsetBytes },
    { quota, nowMs: clock.now() },
  )
  upload.lengthBytes = lengthBytes
}

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
