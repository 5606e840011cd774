import { hours, seconds } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import type { Appended } from '../../uploads/append.ts'
import { createUpload } from '../../uploads/creation/create-upload.ts'
import { expireSoon } from '../../uploads/endings/expire-soon.ts'
import { failInterrupted } from '../../uploads/endings/fail-interrupted.ts'
import type { CreationRight } from '../../uploads/ledger/upload-rights.ts'
import { expiresAtMs, type OpenUpload } from '../../uploads/open-upload.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToCreate } from '../endpoint/authenticate.ts'
import { carryFirstBody } from '../endpoint/carry-body.ts'
import { stoppedForGood } from '../endpoint/stopped-for-good.ts'
import { uploadAddress } from '../endpoint/upload-path.ts'
import type { UploadRequest, UploadResponse } from '../endpoint/upload-request.ts'
import { appendResponse } from './append-response.ts'
import { sendAddress, sendProgress } from './interim.ts'
import { limitsOf } from './limits-of.ts'
import { type Creation, readCreation } from './read-creation.ts'
import { type Spoken, spokenVersion } from './versions.ts'

/** Whose client may not have heard of it is kept no longer, unless it comes back. */
const ADDRESS_GRACE_MS = hours(1)
/** A 104 may be lost with its connection; after this long it has arrived. */
const ARRIVES_MS = seconds(10)

/** Upload Creation: a new file, with all of its bytes, with some, or with none. */
export async function beginUpload(
  context: UploadContext,
  uploadUrl: string,
  request: UploadRequest,
): Promise<UploadResponse | undefined> {
  if (request.fileId && request.method === 'POST')
    throw new SluiceError('method_not_allowed', 'POST goes to the address of all uploads.')
  const version = spokenVersion(request.headers)
  const sent = readCreation(request)
  const right = await authenticateToCreate(context, request)
  const made = await createUpload(
    context,
    right,
    { ...sent.declared, ...(sent.hasBody && { graceMs: ADDRESS_GRACE_MS }) },
    sent.hasBody ? { bytes: sent.bytes } : undefined,
  )
  noteRequest({ fileId: made.fileId })
  const begun = {
    request,
    version,
    sent,
    right,
    location: uploadAddress(uploadUrl, request.pipeId, made.fileId),
  }
  if (made.upload) return carry(context, made.upload, begun)
  const nothing: Appended = { offsetBytes: 0, why: 'end', state: 'uploading' }
  const file = { fileId: made.fileId, crc32: 0, lengthBytes: sent.declared.lengthBytes }
  return appendResponse(version, file, nothing, about(context, begun, made.expiresAtMs))
}

type Begun = {
  request: UploadRequest
  version: Spoken
  sent: Creation
  right: CreationRight
  location: string
}

function about(context: UploadContext, { version, sent, right, location }: Begun, untilMs: number) {
  const { complete, declared } = sent
  return {
    complete,
    filename: declared.filename,
    location,
    limits: limitsOf(context, right, version, untilMs),
  }
}

async function carry(
  context: UploadContext,
  upload: OpenUpload,
  begun: Begun,
): Promise<UploadResponse | undefined> {
  const { request, version, sent, right, location } = begun
  const nowMs = context.clock.now()
  const limits = limitsOf(context, right, version, expiresAtMs(upload, nowMs))
  const addressSent = sent.resumable && sendAddress(request, version, { Location: location, ...limits })
  const stop = addressSent ? sendProgress(request, version, upload) : () => {}
  const appended = await carryFirstBody(context, right, upload, {
    body: sent.body,
    atomic: sent.atomic,
    addressKnown: addressSent,
    ends: sent.complete ? 'with body' : 'later',
    onlyWhole: !addressSent,
  }).finally(stop)
  const { why, state } = appended
  // Nobody knows its address, or will be told.
  const isLost = !addressSent && state === 'uploading' && (why !== 'end' || sent.complete)
  if (isLost)
    await failInterrupted(context, upload.fileId, { cutByClientOf: why === 'cut' ? right.token : undefined })
  if (addressSent && why === 'cut' && context.clock.now() - nowMs < ARRIVES_MS)
    await expireSoon(context, upload.fileId, ADDRESS_GRACE_MS)
  if (why === 'cut' && state === 'uploading') return undefined
  if (isLost && why !== 'end') throw stoppedForGood()
  return appendResponse(version, upload, appended, about(context, begun, upload.expiresAtMs))
}
