import { waitForDecision } from '../../hooks/decide-files.ts'
import { rejected } from '../../hooks/rejection.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Accepted } from '../../uploads/append.ts'
import type { Progress, Upload } from '../../uploads/opening/upload.ts'
import { toldOffset } from '../../uploads/rules/decision.ts'
import type { UploadContext, UploadRow } from '../../uploads/upload-context.ts'
import { authenticateToContinue } from './authenticate.ts'
import { hasObject, stillUndecided } from './look-up.ts'
import type { UploadRequest, UploadResponse } from './upload-request.ts'

/** How each protocol reports the decision on a file. */

/**
 * Waits for the decision after the last byte, and throws the reason if the file is rejected. Does not wait if the
 * client is gone.
 */
export async function afterDecision(
  context: UploadContext,
  upload: Pick<Upload, 'isGated' | 'fileId' | 'progress'>,
  appended: Accepted,
): Promise<Accepted> {
  const { isGated, fileId, progress } = upload
  if (isGated && appended.state === 'uploading')
    return { ...appended, offsetBytes: offsetWhileOpen(upload, appended.offsetBytes) }
  if (!isGated || appended.why === 'cut') return appended
  return { ...appended, ...(await decided(context, { fileId, progress })) }
}

/** The offset that is reported to clients while there is no decision yet. */
export function offsetWhileOpen(
  { isGated, progress }: Pick<Upload, 'isGated' | 'progress'>,
  offsetBytes = progress.offsetBytes,
): number {
  const { lengthBytes, lengthCameLast } = progress
  return toldOffset({
    offsetBytes,
    lengthBytes,
    lengthCameLast,
    decision: isGated ? { state: 'due' } : null,
  })
}

type Decided = Pick<Accepted, 'state' | 'offsetBytes' | 'result'>

/** Like `afterDecision`, for a repeated request. */
export async function decided(
  context: UploadContext,
  { fileId, progress }: { fileId: string; progress: Pick<Progress, 'lengthBytes' | 'lengthCameLast'> },
): Promise<Decided> {
  const standing = await waitForDecision(context, fileId)
  const offsetBytes = progress.lengthBytes ?? 0
  // The file has no hook, or no longer has a record.
  if (!standing) return { state: 'transferring', offsetBytes }
  const { status, state, reason, result } = standing
  if (state === 'rejected') throw rejected(reason)
  if (status === 'failed') throw new SluiceError('upload_gone', 'The upload has failed. Start it again.')
  if (state === 'allowed') return { state: hasObject(status) ? status : 'transferring', offsetBytes, result }
  // There is no last byte to withhold: the file is empty, it was joined from other files, or the client knows that
  // every byte has arrived.
  if (offsetBytes === 0 || progress.lengthCameLast) throw stillUndecided()
  return { state: 'undecided', offsetBytes: offsetBytes - 1 }
}

/**
 * True for an append at the offset that was reported while the file was undecided. The byte it contains has already
 * arrived.
 */
export function repeatsLastByte(upload: UploadRow, chunk: { offsetBytes: number }): boolean {
  const { decision, lengthBytes, offsetBytes } = upload
  return decision !== null && offsetBytes === lengthBytes && chunk.offsetBytes === lengthBytes - 1
}

/** The header with the customer backend's result for the uploader. */
export function resultHeader(result: unknown): Record<string, string> {
  if (result === null || result === undefined) return {}
  return { 'Sluice-Result': Buffer.from(JSON.stringify(result)).toString('base64url') }
}

/** Responds to GET …/files/<id>/result, for clients that cannot read the header, and for people. */
export async function showResult(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const { upload } = await authenticateToContinue(context, request)
  const { status, decision } = upload
  const answer = {
    status,
    offset: toldOffset(upload),
    decision: decision?.state ?? null,
    reason: decision?.reason ?? null,
    result: decision?.result ?? null,
  }
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: JSON.stringify(answer) }
}
