import { SluiceError } from '../../platform/kernel/errors.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import { failInterrupted } from '../../uploads/endings/end-upload.ts'
import { createUpload } from '../../uploads/opening/create-upload.ts'
import { RequestSource } from '../../uploads/stream/request-source.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToCreate } from '../endpoint/authenticate.ts'
import { declaredChecksums, wholeFileCheck } from '../endpoint/body-check.ts'
import { describeFile, readName, readPath, stoppedForGood } from '../endpoint/file-response.ts'
import { receiveFirstBody } from '../endpoint/receive-body.ts'
import {
  bodyBytes,
  type Protocol,
  type UploadRequest,
  type UploadResponse,
  uploadAddress,
} from '../endpoint/upload-request.ts'

/**
 * Receives a file in one plain request, for example from curl or a device. Quotas, limits, the timeline and webhooks
 * work as for any other upload, but the upload cannot be resumed: if the request is interrupted, the upload fails.
 */
export const plainProtocol: Protocol = {
  headers: {},
  nameOf: () => 'http',
  handle: putFile,
}

async function putFile(
  context: UploadContext,
  uploadUrl: string,
  request: UploadRequest,
): Promise<UploadResponse | undefined> {
  assertNoForm(request)
  if (request.method === 'POST' && request.fileId)
    throw new SluiceError('method_not_allowed', 'Send the POST to the address without an upload id.')
  const filename = readName(request)
  const bytes = bodyBytes(request)
  const body = { source: new RequestSource(request.body), check: wholeFileCheck(request) }
  const right = await authenticateToCreate(context, request)
  const declared = {
    filename,
    relativePath: readPath(request),
    checksums: declaredChecksums(request),
    filetype: request.headers['content-type'] ?? null,
    lengthBytes: bytes ?? null,
    uploadMetadata: {},
    uploadMetadataHeader: null,
    concat: null,
    protocol: request.protocol,
  }
  const { fileId, upload } = await createUpload(context, right, declared, { bytes })
  noteRequest({ fileId })
  const rules = { completedBy: 'body', whenCut: body.check ? 'discard' : 'keep parts' } as const
  const appended = await receiveFirstBody(context, right, upload!, { body, rules })
  const isCut = appended.why === 'cut'
  if (appended.state === 'uploading')
    await failInterrupted(context, fileId, { cutByClientOf: isCut ? right.token : undefined })
  if (isCut) return undefined
  if (appended.state === 'uploading') throw stoppedForGood()
  const location = uploadAddress(uploadUrl, request.pipeId, fileId)
  return describeFile(upload!, appended, { filename, location })
}

/** Refuses a form, which would be stored as received, with all its parts. */
function assertNoForm({ headers }: UploadRequest): void {
  if (headers['content-type']?.toLowerCase().startsWith('multipart/form-data'))
    throw new SluiceError(
      'unsupported_media_type',
      'Send the file itself as the body, as `curl -T` does, not a form that contains it.',
    )
}
