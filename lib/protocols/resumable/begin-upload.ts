import { hours, seconds } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import type { Accepted } from '../../uploads/append.ts'
import { expireSoon, failInterrupted } from '../../uploads/endings/end-upload.ts'
import { createUpload, type Declared } from '../../uploads/opening/create-upload.ts'
import { expiresAtMs, type Upload } from '../../uploads/opening/upload.ts'
import { NO_BYTES } from '../../uploads/stream/pieces.ts'
import { RequestSource } from '../../uploads/stream/request-source.ts'
import type { CreationRight, UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToCreate } from '../endpoint/authenticate.ts'
import { contentCheck, declaredChecksums, wholeFileCheck } from '../endpoint/body-check.ts'
import { readName, readPath, stoppedForGood } from '../endpoint/file-response.ts'
import { type Body, receiveFirstBody } from '../endpoint/receive-body.ts'
import {
  bodyBytes,
  type UploadRequest,
  type UploadResponse,
  uploadAddress,
} from '../endpoint/upload-request.ts'
import {
  completeness,
  countField,
  isPartialUpload,
  resumableRules,
  type Spoken,
  spokenVersion,
} from './fields.ts'
import { readLength } from './problems.ts'
import { appendResponse, limitsOf, sendAddress, sendProgress } from './responses.ts'

/** How long an upload is kept if its client may not know the address and does not continue it. */
const ADDRESS_GRACE_MS = hours(1)
/** If the connection lasts at least this long after a 104, the client is assumed to have received it. */
const ARRIVES_MS = seconds(10)

/** Handles an Upload Creation, which may contain all, some or none of the new file's bytes. */
export async function beginUpload(
  context: UploadContext,
  uploadUrl: string,
  request: UploadRequest,
): Promise<UploadResponse | undefined> {
  if (request.fileId && request.method === 'POST')
    throw new SluiceError('method_not_allowed', 'Send the POST to the address without an upload id.')
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
  if (made.upload) return receive(context, made.upload, begun)
  const nothing: Accepted = { offsetBytes: 0, why: 'end', state: 'uploading' }
  const { lengthBytes } = sent.declared
  const file = { fileId: made.fileId, progress: { crc32: 0, lengthBytes } }
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

async function receive(
  context: UploadContext,
  upload: Upload,
  begun: Begun,
): Promise<UploadResponse | undefined> {
  const { request, version, sent, right, location } = begun
  const nowMs = context.clock.now()
  const limits = limitsOf(context, right, version, expiresAtMs(upload.progress.expiry, nowMs))
  const addressSent = sent.resumable && sendAddress(request, version, { Location: location, ...limits })
  const stop = addressSent ? sendProgress(request, version, upload) : () => {}
  const appended = await receiveFirstBody(context, right, upload, {
    body: sent.body,
    rules: resumableRules({ ...sent, mayContinue: addressSent }),
    addressKnown: addressSent,
  }).finally(stop)
  const { why, state } = appended
  // The client does not know the address, and the response will not contain it.
  const isLost = !addressSent && state === 'uploading' && (why !== 'end' || sent.complete)
  if (isLost)
    await failInterrupted(context, upload.fileId, { cutByClientOf: why === 'cut' ? right.token : undefined })
  if (addressSent && why === 'cut' && context.clock.now() - nowMs < ARRIVES_MS)
    await expireSoon(context, upload.fileId, ADDRESS_GRACE_MS)
  if (why === 'cut' && state === 'uploading') return undefined
  if (isLost && why !== 'end') throw stoppedForGood()
  return appendResponse(version, upload, appended, about(context, begun, upload.progress.expiresAtMs))
}

/** What a request declares about a new file. It is checked before the database is queried. */
type Creation = {
  declared: Declared & { concat: null }
  /** True if this body contains the rest of the file. */
  complete: boolean
  /** True if the client wants to be able to resume. Without Upload-Complete, this is an ordinary upload. */
  resumable: boolean
  bytes: number | undefined
  hasBody: boolean
  body: Body
  /**
   * With Content-Digest, a body takes effect entirely or not at all. Repr-Digest is the digest of the file, which is
   * checked once the file is complete.
   */
  atomic: boolean
}

function readCreation(request: UploadRequest): Creation {
  const { headers } = request
  if (countField(headers['upload-offset']))
    throw new SluiceError('invalid_header', 'A new upload starts at offset 0: leave out Upload-Offset.')
  const said = completeness(headers)
  const complete = said ?? true
  const bytes = bodyBytes(request)
  const hasBody = complete || bytes !== 0
  const lengthBytes = readLength(request, { complete, fromBytes: 0, bytes }) ?? null
  const source = bytes === 0 ? NO_BYTES : new RequestSource(request.body)
  const check = complete ? wholeFileCheck(request) : contentCheck(request)
  if (!hasBody) check?.verify()
  return {
    declared: {
      filename: readName(request),
      relativePath: readPath(request),
      checksums: declaredChecksums(request),
      // If tus-js-client sends application/partial-upload, that is the type of the body. The type of the file is
      // unknown.
      filetype: isPartialUpload(headers) ? null : (headers['content-type'] ?? null),
      lengthBytes,
      uploadMetadata: {},
      uploadMetadataHeader: null,
      concat: null,
      protocol: request.protocol,
    },
    complete,
    resumable: said !== undefined,
    bytes,
    hasBody,
    body: { source, check },
    atomic: headers['content-digest'] !== undefined,
  }
}
