import { SluiceError } from '../kernel/errors.ts'
import { appendBytes } from '../uploads/append.ts'
import { NO_BYTES } from '../uploads/byte-source.ts'
import { type Announced, createUpload, maxUploadBytes } from '../uploads/create-upload.ts'
import { expiresAtMs } from '../uploads/open-upload.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { authenticateToCreate } from './authenticate.ts'
import { bodyCheck } from './checksum.ts'
import { expiresHeader } from './head-upload.ts'
import { observed, requestSource } from './request-source.ts'
import {
  assertOffsetStream,
  bodyBytes,
  countHeader,
  deferHeader,
  type TusAnswer,
  type TusRequest,
} from './tus-request.ts'
import { parseUploadMetadata } from './upload-metadata.ts'
import { uploadAddress } from './upload-path.ts'

/** Creation, with the first bytes or without; an empty file is finished at once. */
export async function postUpload(
  context: UploadContext,
  uploadUrl: string,
  request: TusRequest,
): Promise<TusAnswer | undefined> {
  if (request.fileId) throw new SluiceError('method_not_allowed', 'POST goes to the address of all uploads.')
  const announced = readAnnounced(request)
  const bytes = bodyBytes(request)
  const hasBody = bytes !== 0
  if (hasBody) assertOffsetStream(request)
  const { lengthBytes } = announced
  if (lengthBytes !== null && bytes !== undefined && bytes > lengthBytes)
    throw new SluiceError('file_too_large', 'The body has more bytes than Upload-Length says.')
  const check = hasBody ? bodyCheck(request) : undefined
  const source = hasBody ? requestSource(request.body) : NO_BYTES
  const right = await authenticateToCreate(context, request)
  const made = await createUpload(context, right, announced, { open: hasBody || lengthBytes === 0 })
  const headers = {
    Location: uploadAddress(uploadUrl, request.pipeId, made.fileId),
    ...expiresHeader(expiresAtMs(made, context.clock.now())),
  }
  if (!made.upload) return { status: 201, headers }
  context.metrics.uploadsOpen.inc()
  try {
    const mayTakeBytes =
      lengthBytes ??
      maxUploadBytes(made.upload.limits, {
        tokenBytes: right.token.maxBytes,
        pipeBytes: right.pipe.maxFileBytes,
      })
    const options = { mayTakeBytes, ...(check && { verify: () => check.verify() }) }
    const { why, offsetBytes } = await appendBytes(
      context,
      made.upload,
      check ? observed(source, (piece) => check.update(piece)) : source,
      options,
    )
    if (why === 'cut') return undefined
    return { status: 201, headers: { ...headers, 'Upload-Offset': String(offsetBytes) } }
  } finally {
    context.metrics.uploadsOpen.dec()
  }
}

function readAnnounced(request: TusRequest): Announced {
  const { headers } = request
  const length = countHeader(request, 'upload-length')
  const deferred = deferHeader(request)
  if (length === undefined && !deferred)
    throw new SluiceError('invalid_header', 'POST needs Upload-Length, or Upload-Defer-Length: 1.')
  if (length !== undefined && deferred)
    throw new SluiceError('invalid_header', 'Upload-Length and Upload-Defer-Length exclude each other.')
  const metadata = parseUploadMetadata(headers['upload-metadata'])
  return {
    lengthBytes: length ?? null,
    filename: metadata.filename,
    filetype: metadata.filetype,
    uploadMetadata: metadata.rest,
    uploadMetadataHeader: metadata.header,
    concat: null,
  }
}
