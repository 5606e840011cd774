import { SluiceError } from '../../platform/kernel/errors.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import { type Appended, appendBytes } from '../../uploads/append.ts'
import { type ByteSource, NO_BYTES } from '../../uploads/byte-source.ts'
import { createFinal } from '../../uploads/concat/create-final.ts'
import { createUpload } from '../../uploads/create-upload.ts'
import type { CreationRight } from '../../uploads/ledger/upload-rights.ts'
import { maxUploadBytes } from '../../uploads/may-create.ts'
import type { Announced } from '../../uploads/new-upload.ts'
import type { OpenUpload } from '../../uploads/open-upload.ts'
import { takeBackUpload } from '../../uploads/take-back-upload.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToCreate } from './authenticate.ts'
import { type BodyCheck, bodyCheck } from './checksum.ts'
import { expiresHeader } from './head-upload.ts'
import { observed, RequestSource } from './request-source.ts'
import {
  assertOffsetStream,
  bodyBytes,
  countHeader,
  deferHeader,
  type TusAnswer,
  type TusRequest,
} from './tus-request.ts'
import { type FinalConcat, parseUploadConcat } from './upload-concat.ts'
import { parseUploadMetadata } from './upload-metadata.ts'
import { uploadAddress } from './upload-path.ts'

/** Creation, with the first bytes or without; an empty file is finished at once. */
export async function postUpload(
  context: UploadContext,
  uploadUrl: string,
  request: TusRequest,
): Promise<TusAnswer | undefined> {
  if (request.fileId) throw new SluiceError('method_not_allowed', 'POST goes to the address of all uploads.')
  const concat = parseUploadConcat(request.headers['upload-concat'], request.pipeId)
  if (concat?.kind === 'final') return joinUploads(context, uploadUrl, { request, concat })
  const announced = {
    ...readMetadata(request),
    lengthBytes: readLength(request),
    concat: concat?.kind ?? null,
  }
  const bytes = bodyBytes(request)
  const hasBody = bytes !== 0
  if (hasBody) assertOffsetStream(request)
  const { lengthBytes } = announced
  if (lengthBytes !== null && bytes !== undefined && bytes > lengthBytes)
    throw new SluiceError('file_too_large', 'The body has more bytes than Upload-Length says.')
  const check = hasBody ? bodyCheck(request) : undefined
  const source = hasBody ? new RequestSource(request.body) : NO_BYTES
  const right = await authenticateToCreate(context, request)
  const incoming = hasBody || lengthBytes === 0 ? { bytes } : undefined
  const made = await createUpload(context, right, announced, incoming)
  noteRequest({ fileId: made.fileId })
  const location = { Location: uploadAddress(uploadUrl, request.pipeId, made.fileId) }
  const { upload } = made
  if (!upload) return { status: 201, headers: { ...location, ...expiresHeader(made.expiresAtMs) } }
  const { why, offsetBytes } = await carry(context, right, upload, { source, check })
  if (why === 'cut') return undefined
  const headers = { ...location, ...expiresHeader(upload.expiresAtMs), 'Upload-Offset': String(offsetBytes) }
  return { status: 201, headers }
}

/** The first bytes. If they are refused, so is the creation: nobody was told its address. */
async function carry(
  context: UploadContext,
  { token, pipe }: CreationRight,
  upload: OpenUpload,
  { source, check }: { source: ByteSource; check: BodyCheck | undefined },
): Promise<Appended> {
  const may = { tokenBytes: token.maxBytes, pipeBytes: pipe.maxFileBytes }
  const limitBytes = upload.lengthBytes ?? maxUploadBytes(upload.limits, may)
  context.metrics.uploadsOpen.inc()
  try {
    if (!check) return await appendBytes(context, upload, source, { limitBytes })
    const seen = observed(source, (piece) => check.update(piece))
    return await appendBytes(context, upload, seen, { limitBytes, verify: () => check.verify() })
  } catch (error) {
    await takeBackUpload(context, upload, { tokenId: token.id, error })
    throw error
  } finally {
    context.metrics.uploadsOpen.dec()
  }
}

async function joinUploads(
  context: UploadContext,
  uploadUrl: string,
  { request, concat }: { request: TusRequest; concat: FinalConcat },
): Promise<TusAnswer> {
  // "The Client MUST NOT include the Upload-Length header in the final upload creation."
  if (request.headers['upload-length'] !== undefined || deferHeader(request))
    throw new SluiceError(
      'invalid_header',
      'A final upload has the length of its partial ones: leave Upload-Length out.',
    )
  const announced = { ...readMetadata(request), lengthBytes: null, concat: 'final' as const }
  const right = await authenticateToCreate(context, request)
  const { fileId } = await createFinal(context, right, announced, {
    partialIds: concat.partialIds,
    concatHeader: concat.header,
  })
  noteRequest({ fileId })
  return { status: 201, headers: { Location: uploadAddress(uploadUrl, request.pipeId, fileId) } }
}

function readLength(request: TusRequest): number | null {
  const length = countHeader(request, 'upload-length')
  const deferred = deferHeader(request)
  if (length === undefined && !deferred)
    throw new SluiceError('invalid_header', 'POST needs Upload-Length, or Upload-Defer-Length: 1.')
  if (length !== undefined && deferred)
    throw new SluiceError('invalid_header', 'Upload-Length and Upload-Defer-Length exclude each other.')
  return length ?? null
}

function readMetadata({ headers }: TusRequest): Omit<Announced, 'lengthBytes' | 'concat'> {
  const { header, filename, filetype, rest } = parseUploadMetadata(headers['upload-metadata'])
  return { filename, filetype, uploadMetadata: rest, uploadMetadataHeader: header }
}
