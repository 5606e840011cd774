import { workspaceSuspended } from '../../identity/suspension.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { giveBack } from '../lease/held-lease.ts'
import { recordLength, reserveAgain } from '../ledger/open-uploads.ts'
import type { UploadRight } from '../ledger/upload-rights.ts'
import type { UploadRow } from '../ledger/upload-rows.ts'
import { toldOffset } from '../rules/decision.ts'
import type { UploadContext } from '../upload-context.ts'
import { assertNotOff, maxUploadBytes, tooLarge } from './may-create.ts'
import { type Incoming, openUpload } from './open-upload.ts'
import type { Upload } from './upload.ts'

/**
 * An upload that is open for bytes, and how many more it accepts. `ended`: it accepts none. `moved`: another writer has
 * changed its offset, so these bytes do not continue it.
 */
export type Opened =
  | { kind: 'open'; upload: Upload; limitBytes: number }
  | { kind: 'ended' }
  | { kind: 'moved'; toldBytes: number }

/**
 * Opens an upload for the bytes from `fromBytes` on, whichever way they come in: rights, offset, lease, limits and
 * quota. The caller then owns the lease, and `appendBytes` ends it.
 */
export async function openForBytes(
  context: UploadContext,
  right: UploadRight,
  { fromBytes, ...incoming }: Incoming & { fromBytes: number },
): Promise<Opened> {
  const { upload: row, destinations, suspended } = right
  if (suspended) throw workspaceSuspended()
  assertNotOff(destinations)
  if (row.status !== 'uploading') return { kind: 'ended' }
  // While the upload is leased, its writer may extend its expiry and move its offset, but not back.
  if (!row.leased) assertNotExpired(row, row.expiresAtMs, context.clock.now())
  const isStale = row.leased ? row.offsetBytes > fromBytes : row.offsetBytes !== fromBytes
  if (isStale) return { kind: 'moved', toldBytes: toldOffset(row) }
  const upload = await openUpload(context, right, { ...incoming, offsetBytes: fromBytes })
  if (!upload) return { kind: 'ended' }
  const { progress } = upload
  try {
    assertNotExpired(row, progress.expiresAtMs, context.clock.now())
    if (progress.offsetBytes === fromBytes)
      return { kind: 'open', upload, limitBytes: await prepareToAppend(context, right, upload, incoming) }
  } catch (error) {
    await releaseUpload(upload)
    throw error
  }
  await releaseUpload(upload)
  const { offsetBytes, lengthBytes, lengthCameLast } = progress
  const { decision } = row
  return { kind: 'moved', toldBytes: toldOffset({ offsetBytes, lengthBytes, lengthCameLast, decision }) }
}

/** An import may wait for its turn or its source for as long as its worker allows: see `isLate`. */
function assertNotExpired({ protocol }: UploadRow, expiresAtMs: number, nowMs: number): void {
  if (protocol !== 'url' && expiresAtMs <= nowMs)
    throw new SluiceError('upload_gone', 'The upload was not finished in time and has expired.')
}

/**
 * Checks what is required before bytes are accepted: room for a tail, quota, and a valid length. Returns how many more
 * bytes the upload accepts.
 */
async function prepareToAppend(
  context: Quotas & Pick<UploadContext, 'tailCap'>,
  { token, pipe }: Pick<UploadRight, 'token' | 'pipe'>,
  upload: Upload,
  { bytes, lengthBytes }: Incoming,
): Promise<number> {
  if (upload.progress.tailBytes === 0) context.tailCap.assertRoom(upload.workspaceId)
  if (bytes !== 0) await renewReservation(context, upload)
  const maxBytes = maxUploadBytes(upload.limits, { tokenBytes: token.maxBytes, pipeBytes: pipe.maxFileBytes })
  if (lengthBytes !== undefined && lengthBytes !== upload.progress.lengthBytes)
    await declareLength(context, upload, { lengthBytes, maxBytes })
  const limitBytes = (upload.progress.lengthBytes ?? maxBytes) - upload.progress.offsetBytes
  if (bytes !== undefined && bytes > limitBytes)
    throw upload.progress.lengthBytes === null ? tooLarge(maxBytes) : tooLong(limitBytes)
  return limitBytes
}

function tooLong(missing: number): SluiceError {
  return new SluiceError(
    'file_too_large',
    `The body is longer than the ${missing} bytes that are still missing.`,
  )
}

/** Releases an upload if its request is refused after the upload was opened. If that fails, the lease expires. */
export async function releaseUpload({ lease, numbers }: Upload): Promise<void> {
  await giveBack(lease, { bound: numbers.boundAfterRelease() })
}

type Quotas = Pick<UploadContext, 'db' | 'clock' | 'quota'>

/**
 * TUS 1.0.0, Creation With Deferred Length: "Once set the length MUST NOT be changed." Reserves quota for the missing
 * bytes.
 */
export async function declareLength(
  { db, clock, quota }: Quotas,
  { lease, progress }: Upload,
  { lengthBytes, maxBytes }: { lengthBytes: number; maxBytes: number },
): Promise<void> {
  const { lengthBytes: declared, offsetBytes } = progress
  if (declared !== null)
    throw new SluiceError('invalid_header', `Upload-Length was ${declared} and cannot be changed.`)
  if (lengthBytes < offsetBytes)
    throw new SluiceError(
      'invalid_header',
      `Upload-Length is less than the ${offsetBytes} bytes received so far.`,
    )
  if (lengthBytes > maxBytes) throw tooLarge(maxBytes)
  const missing = { lengthBytes, restBytes: lengthBytes - offsetBytes }
  await recordLength(db, lease, missing, { quota, nowMs: clock.now() })
  progress.lengthDeclared(lengthBytes)
}

/**
 * A reservation lapses when no bytes arrive for an hour, and other uploads may have used the quota since. So before
 * more bytes are accepted, quota for the missing bytes is reserved again; if there is not enough, the request is
 * refused.
 */
async function renewReservation(
  { db, clock, quota }: Quotas,
  { workspaceId, lease, progress }: Upload,
): Promise<void> {
  const { lengthBytes, offsetBytes, reservationLapsed } = progress
  if (!reservationLapsed || lengthBytes === null) return
  const missing = { workspaceId, restBytes: lengthBytes - offsetBytes }
  await reserveAgain(db, lease, missing, { quota, nowMs: clock.now() })
  progress.reservationRenewed()
}
