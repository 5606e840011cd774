import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { endUpload } from '../../uploads/endings/end-upload.ts'
import type { Upload } from '../../uploads/opening/upload.ts'
import { toldOffset } from '../../uploads/rules/decision.ts'
import { RequestSource } from '../../uploads/stream/request-source.ts'
import type { UploadContext, UploadRight } from '../../uploads/upload-context.ts'
import { contentCheck, declaredChecksums } from '../endpoint/body-check.ts'
import { decided, repeatsLastByte } from '../endpoint/decision.ts'
import { hasObject } from '../endpoint/look-up.ts'
import { assertOffset, type Chunk, openToAppend } from '../endpoint/open-to-append.ts'
import { receiveBody } from '../endpoint/receive-body.ts'
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
  PARTIAL_UPLOAD,
  resumableRules,
  type Spoken,
  spokenVersion,
} from './fields.ts'
import { alreadyComplete, inconsistentLength, readLength } from './problems.ts'
import { appendResponse, limitsOf, sendProgress } from './responses.ts'

type Append = Chunk & { complete: boolean }

/**
 * Handles an Upload Append. Returns undefined if the client has disconnected, because there is nobody left to respond
 * to.
 */
export async function appendUpload(
  context: UploadContext,
  uploadUrl: string,
  request: UploadRequest,
): Promise<UploadResponse | undefined> {
  const version = spokenVersion(request.headers)
  const chunk = readAppend(request, version)
  const opened = await openToAppend(context, request, chunk, (error, { lengthBytes }) =>
    isOfLength(error) && lengthBytes !== null
      ? inconsistentLength(`The length of the upload is ${lengthBytes}.`)
      : error,
  )
  const { right, upload, limitBytes } = opened
  const location = uploadAddress(uploadUrl, request.pipeId, right.upload.id)
  const about = { complete: chunk.complete, filename: right.upload.filename, location }
  if (!upload) return replay(context, version, { right, chunk, about: { ...about, limits: {} } })
  const stop = sendProgress(request, version, upload)
  const appended = await receive(context, upload, chunk, limitBytes).finally(stop)
  if (appended.why === 'cut' && appended.state === 'uploading') return undefined
  const limits = limitsOf(context, right, version, upload.progress.expiresAtMs)
  return appendResponse(version, upload, appended, { ...about, limits })
}

function readAppend(request: UploadRequest, { partialUpload }: Spoken): Append {
  const { headers } = request
  if (partialUpload && !isPartialUpload(headers))
    throw new SluiceError('unsupported_media_type', `Content-Type must be ${PARTIAL_UPLOAD}.`)
  const offsetBytes = countField(headers['upload-offset'])
  const complete = completeness(headers) ?? (partialUpload ? undefined : true)
  if (offsetBytes === undefined || complete === undefined)
    throw new SluiceError(
      'invalid_header',
      'PATCH requires Upload-Offset (a whole number) and Upload-Complete (?0 or ?1).',
    )
  const bytes = bodyBytes(request)
  const lengthBytes = readLength(request, { complete, fromBytes: offsetBytes, bytes })
  const check = contentCheck(request)
  const checksums = declaredChecksums(request)
  return {
    offsetBytes,
    complete,
    bytes,
    lengthBytes,
    checksums,
    check,
    source: new RequestSource(request.body),
  }
}

async function receive(context: UploadContext, upload: Upload, chunk: Append, limitBytes: number) {
  try {
    return await receiveBody(context, upload, chunk, {
      limitBytes,
      checksums: chunk.checksums,
      rules: resumableRules({ ...chunk, atomic: chunk.check !== undefined, mayContinue: true }),
    })
  } catch (error) {
    if (!isOfLength(error) || upload.progress.lengthBytes === null) throw error
    // "rejecting the request once the offset exceeds the length, marking the upload resource invalid"
    const reason = 'The client sent more bytes than the length of the upload.'
    await endUpload(context, upload.fileId, { status: 'failed', reason, from: ['uploading'] })
    throw inconsistentLength(reason)
  }
}

function isOfLength(error: unknown): boolean {
  return isSluiceError(error) && (error.code === 'file_too_large' || error.code === 'invalid_header')
}

/**
 * The response to the request that completed the upload may have been lost, so an empty append at the end gets the
 * same response.
 */
async function replay(
  context: UploadContext,
  version: Spoken,
  { right, chunk, about }: { right: UploadRight; chunk: Append; about: Parameters<typeof appendResponse>[3] },
): Promise<UploadResponse> {
  const { upload } = right
  const { id: fileId, offsetBytes } = upload
  const isRepeated = repeatsLastByte(upload, chunk)
  if (!isRepeated) assertOffset(toldOffset(upload), chunk)
  if (!chunk.complete || (chunk.bytes !== 0 && !isRepeated)) throw alreadyComplete()
  const state = hasObject(upload.status) ? ('transferred' as const) : ('transferring' as const)
  const now = upload.decision ? await decided(context, { fileId, progress: upload }) : { offsetBytes, state }
  return appendResponse(version, { fileId, progress: upload }, { ...now, why: 'end' }, about)
}
