import { setTimeout as sleep } from 'node:timers/promises'
import { rejected } from '../../hooks/rejection.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { within } from '../../platform/kernel/waits.ts'
import type { Accepted } from '../../uploads/append.ts'
import { cancelUpload, retireUpload } from '../../uploads/endings/end-upload.ts'
import { noteOffsetRequest } from '../../uploads/opening/report-offset.ts'
import type { UploadContext, UploadRight, UploadRow } from '../../uploads/upload-context.ts'
import { assertServedHere } from '../../workspace/pipes/read-pipes.ts'
import { authenticateToContinue } from './authenticate.ts'
import type { UploadRequest, UploadResponse } from './upload-request.ts'

/**
 * Errors with these statuses are reported to the client. Common clients abandon the upload after a HEAD that fails with
 * any other status, so all other errors are retried and, if they persist, reported as 423.
 */
const REPORTED_STATUSES = new Set([401, 403, 404, 405, 410, 412, 423])
const PATIENCE_MS = 9500
const RETRY_MS = 250

/**
 * Reads the upload for an offset request. A writer is asked to stop first, so that the offset is exact. Transient
 * errors are retried.
 */
export async function lookUp(context: UploadContext, request: UploadRequest): Promise<UploadRight> {
  const untilMs = performance.now() + PATIENCE_MS
  const right = await within(PATIENCE_MS, whenKnown(context, request, untilMs))
  if (right === 'late') throw busy()
  return right
}

async function whenKnown(
  context: UploadContext,
  request: UploadRequest,
  untilMs: number,
): Promise<UploadRight> {
  for (;;) {
    try {
      return await lookUpOnce(context, request)
    } catch (error) {
      if (isSluiceError(error) && REPORTED_STATUSES.has(error.status)) throw error
      if (performance.now() >= untilMs) throw busy(error)
      await sleep(RETRY_MS)
    }
  }
}

async function lookUpOnce(context: UploadContext, request: UploadRequest): Promise<UploadRight> {
  await assertServedHere(context.db, request.pipeId)
  if (request.fileId) await context.leases.incoming.passed(request.fileId)
  const first = await authenticateToContinue(context, request)
  const right = await afterWriter(context, request, first)
  // A client that finds no upload here would start over, so a rejection is only reported by the next request.
  if (right.upload.decision?.state !== 'rejected') assertStillThere(right.upload, context.clock.now())
  assertMayLookComplete(right.upload)
  await noteOffsetRequest(context, right.upload)
  return right
}

/**
 * An active writer may extend the expiry or end the upload, so the upload is read again after the writer has stopped.
 */
async function afterWriter(
  context: UploadContext,
  request: UploadRequest,
  right: UploadRight,
): Promise<UploadRight> {
  const { id, leased, status, leaseFence } = right.upload
  if (!leased || status !== 'uploading') return right
  await context.leases.waitUntilFree({ rowId: id, fence: leaseFence })
  return authenticateToContinue(context, request)
}

/**
 * Clients treat an offset that equals the length as success. An empty file has no last byte that could be withheld
 * until the file is allowed, so this throws instead. Clients of other protocols than TUS are told that an upload in
 * progress is not complete.
 */
function assertMayLookComplete({ protocol, status, lengthBytes, decision }: UploadRow): void {
  if (lengthBytes !== 0 || decision === null || (status === 'uploading' && protocol !== 'tus')) return
  if (decision.state === 'rejected') throw rejected(decision.reason)
  if (decision.state !== 'allowed') throw stillUndecided()
}

/**
 * Throws 410 if the upload has ended without a file, or is finished and its address was retired. For a rejected
 * upload, throws the reason.
 */
export function assertStillThere(upload: UploadRow, nowMs: number): void {
  const { status, retired, expiresAtMs, decision } = upload
  if (decision?.state === 'rejected') throw rejected(decision.reason)
  const expired = status === 'expired' || (status === 'uploading' && expiresAtMs <= nowMs)
  if (expired) throw new SluiceError('upload_gone', 'The upload was not finished in time and has expired.')
  if (status === 'canceled' || retired) throw new SluiceError('upload_gone', 'The upload was terminated.')
  if (status === 'failed') throw new SluiceError('upload_gone', 'The upload has failed. Start it again.')
}

/** True if every required destination has the object. */
export function hasObject(
  status: UploadRow['status'] | Accepted['state'],
): status is 'transferred' | 'partially_transferred' {
  return status === 'transferred' || status === 'partially_transferred'
}

/** The response for an undecided file that has no last byte to withhold. */
export function stillUndecided(): SluiceError {
  return new SluiceError('upload_locked', 'The file has not been decided on yet. Try again.', {
    headers: { 'Retry-After': '5' },
  })
}

function busy(cause?: unknown): SluiceError {
  return new SluiceError('upload_locked', 'The upload cannot be looked up right now. Try again.', {
    headers: { 'Retry-After': '1' },
    cause,
  })
}

/**
 * Cancels an unfinished upload. A finished upload only loses its address, because its object belongs to the customer.
 */
export async function deleteUpload(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const { upload } = await authenticateToContinue(context, request)
  if (upload.laneOf)
    throw new SluiceError(
      'method_not_allowed',
      'This is the address of a lane. Send DELETE to the address of its file.',
    )
  assertStillThere(upload, context.clock.now())
  if (hasObject(upload.status)) await retireUpload(context, upload.id)
  else await cancelUpload(context, { fileId: upload.id, workspaceId: upload.workspaceId })
  return { status: 204, headers: {} }
}
