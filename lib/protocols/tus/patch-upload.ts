import { workspaceSuspended } from '../../identity/suspension.ts'
import { isSluiceError, notNow, SluiceError } from '../../platform/kernel/errors.ts'
import type { Accepted } from '../../uploads/append.ts'
import type { Upload } from '../../uploads/opening/upload.ts'
import { toldOffset } from '../../uploads/rules/decision.ts'
import { RequestSource } from '../../uploads/stream/request-source.ts'
import type { UploadContext, UploadRight } from '../../uploads/upload-context.ts'
import { declaredChecksums } from '../endpoint/body-check.ts'
import { decided, repeatsLastByte, resultHeader } from '../endpoint/decision.ts'
import { assertOffset, type Chunk, openToAppend } from '../endpoint/open-to-append.ts'
import { receiveBody } from '../endpoint/receive-body.ts'
import {
  bodyBytes,
  countHeader,
  type UploadRequest,
  type UploadResponse,
} from '../endpoint/upload-request.ts'
import { assertOffsetStream, bodyCheck, expiresHeader, tusRules } from './tus-headers.ts'

/** Returns undefined if the client has disconnected, because there is nobody left to respond to. */
export async function patchUpload(
  context: UploadContext,
  request: UploadRequest,
): Promise<UploadResponse | undefined> {
  assertOffsetStream(request)
  const chunk = readChunk(request)
  const { right, upload, limitBytes } = await openToAppend(context, request, chunk, addExpiresHeader)
  if (!upload) return finishedResponse(context, right, chunk)
  return appendResponse(
    upload,
    await receiveBody(context, upload, chunk, {
      limitBytes,
      checksums: chunk.checksums,
      rules: tusRules(chunk),
    }),
  )
}

function readChunk(request: UploadRequest): Chunk {
  const offsetBytes = countHeader(request, 'upload-offset')
  if (offsetBytes === undefined) throw new SluiceError('invalid_header', 'PATCH requires Upload-Offset.')
  const lengthBytes = countHeader(request, 'upload-length')
  const declared = { offsetBytes, lengthBytes, bytes: bodyBytes(request), check: bodyCheck(request) }
  return { ...declared, checksums: declaredChecksums(request), source: new RequestSource(request.body) }
}

/**
 * Upload-Expires "MUST be included in every PATCH response if the upload is going to expire": that includes refusals.
 */
function addExpiresHeader(error: unknown, { status, expiresAtMs }: UploadRight['upload']): unknown {
  if (isSluiceError(error) && error.code !== 'upload_gone' && status === 'uploading')
    Object.assign(error.headers, { ...expiresHeader(expiresAtMs), ...error.headers })
  return error
}

/**
 * An empty PATCH at the end of a finished upload changes nothing. The same applies to a PATCH that sends the last
 * byte again while a hook decides on the upload.
 */
async function finishedResponse(
  context: UploadContext,
  { upload }: UploadRight,
  chunk: Chunk,
): Promise<UploadResponse> {
  if (upload.concat === 'final') throw new SluiceError('upload_is_final')
  const isRepeated = repeatsLastByte(upload, chunk)
  if (!isRepeated) assertOffset(toldOffset(upload), chunk)
  if (chunk.bytes !== 0 && !isRepeated)
    throw new SluiceError('file_too_large', 'The upload already has all its bytes.')
  const { id: fileId, offsetBytes } = upload
  const now = upload.decision
    ? await decided(context, { fileId, progress: upload })
    : { offsetBytes, result: undefined }
  return { status: 204, headers: { 'Upload-Offset': String(now.offsetBytes), ...resultHeader(now.result) } }
}

function appendResponse(
  upload: Upload,
  { offsetBytes, why, state, result }: Accepted,
): UploadResponse | undefined {
  const headers = {
    'Upload-Offset': String(offsetBytes),
    ...resultHeader(result),
    ...(state === 'uploading' && expiresHeader(upload.progress.expiresAtMs)),
  }
  if (why === 'cut') return undefined
  if (state !== 'uploading' || why === 'end') return { status: 204, headers }
  if (why === 'suspended') throw workspaceSuspended(headers)
  if (why === 'preempted')
    throw new SluiceError('upload_locked', 'Another request has continued this upload.', { headers })
  throw notNow('This node is stopping. Resume the upload immediately.', headers)
}
