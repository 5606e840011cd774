import { createFinal } from '../../concatenation/create-final.ts'
import { assertMayConcatenate } from '../../concatenation/may-concatenate.ts'
import { hours, seconds } from '../../platform/kernel/clock.ts'
import { notNow, SluiceError } from '../../platform/kernel/errors.ts'
import { uuidv7Ms } from '../../platform/kernel/ids.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import { expireSoon, failInterrupted } from '../../uploads/endings/end-upload.ts'
import { keepUndivided } from '../../uploads/opening/create-lanes.ts'
import { createUpload, type Declared } from '../../uploads/opening/create-upload.ts'
import { lanesOf } from '../../uploads/opening/report-offset.ts'
import { toldProgress } from '../../uploads/rules/decision.ts'
import { MAX_LANES } from '../../uploads/rules/lane-plan.ts'
import { NO_BYTES } from '../../uploads/stream/pieces.ts'
import { RequestSource } from '../../uploads/stream/request-source.ts'
import type { CreationRight, UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToCreate } from '../endpoint/authenticate.ts'
import { declaredChecksums } from '../endpoint/body-check.ts'
import { decided, resultHeader } from '../endpoint/decision.ts'
import { lookUp } from '../endpoint/look-up.ts'
import { receiveFirstBody } from '../endpoint/receive-body.ts'
import {
  bodyBytes,
  countHeader,
  type UploadRequest,
  type UploadResponse,
  uploadAddress,
} from '../endpoint/upload-request.ts'
import { describeLanes } from './lanes.ts'
import {
  assertOffsetStream,
  bodyCheck,
  deferHeader,
  expiresHeader,
  type FinalConcat,
  parseUploadConcat,
  parseUploadMetadata,
  tusRules,
} from './tus-headers.ts'

/** Creation, with or without the first bytes. An empty file is finished immediately. */
export async function postUpload(
  context: UploadContext,
  uploadUrl: string,
  request: UploadRequest,
): Promise<UploadResponse | undefined> {
  if (request.fileId)
    throw new SluiceError('method_not_allowed', 'Send the POST to the address without an upload id.')
  const concat = parseUploadConcat(request.headers['upload-concat'], request.pipeId)
  if (concat?.kind === 'final') return joinUploads(context, uploadUrl, { request, concat })
  const declared = {
    ...readMetadata(request),
    lengthBytes: readLength(request),
    concat: concat?.kind ?? null,
    protocol: request.protocol,
    idempotencyKey: readIdempotencyKey(request),
  }
  const bytes = bodyBytes(request)
  const hasBody = bytes !== 0
  if (hasBody) assertOffsetStream(request)
  const { lengthBytes } = declared
  const lanes = readLanesAsked(request, { ...declared, hasBody })
  if (lengthBytes !== null && bytes !== undefined && bytes > lengthBytes)
    throw new SluiceError('file_too_large', 'The body is longer than Upload-Length.')
  const check = hasBody ? bodyCheck(request) : undefined
  const source = hasBody ? new RequestSource(request.body) : NO_BYTES
  if (!hasBody) bodyCheck(request)?.verify()
  const right = await authenticateToCreate(context, request)
  if (concat) assertMayConcatenate(context, right)
  const incoming = hasBody || lengthBytes === 0 ? { bytes } : undefined
  const made = await createUpload(context, right, { ...declared, lanes }, incoming)
  noteRequest({ fileId: made.fileId })
  if (made.isRepeated)
    return describeAgain(context, uploadUrl, { ...request, fileId: made.fileId }, { ...declared, lanes })
  const location = { Location: uploadAddress(uploadUrl, request.pipeId, made.fileId) }
  const { upload } = made
  if (!upload) {
    const headers = { ...location, ...expiresHeader(made.expiresAtMs) }
    if (made.lanes.length === 0) return { status: 201, headers }
    return describeLanes({ status: 201, headers }, { uploadUrl, pipeId: request.pipeId, lanes: made.lanes })
  }
  const { why, state, offsetBytes, result } = await receiveFirstBody(context, right, upload, {
    body: { source, check },
    rules: tusRules({ check }),
    addressKnown: declared.idempotencyKey !== undefined,
  })
  if (why === 'cut') {
    if (state === 'uploading') await keepIfKnown(context, right, { ...declared, fileId: made.fileId })
    return undefined
  }
  const headers = {
    ...location,
    ...expiresHeader(upload.progress.expiresAtMs),
    'Upload-Offset': String(offsetBytes),
    ...resultHeader(result),
  }
  return { status: 201, headers }
}

/**
 * Nobody has received the address of an upload whose creation was interrupted. A client with an Idempotency-Key can
 * repeat the creation to learn it; without one, nobody can continue the upload.
 */
async function keepIfKnown(
  context: UploadContext,
  { token }: CreationRight,
  { fileId, idempotencyKey }: { fileId: string; idempotencyKey: string | undefined },
): Promise<unknown> {
  if (idempotencyKey) return expireSoon(context, fileId, hours(1))
  return failInterrupted(context, fileId, { cutByClientOf: token })
}

/**
 * The response to a creation whose first response may have been lost: the file that it made, and how many bytes that
 * file has by now. The bytes in this request are ignored.
 */
async function describeAgain(
  context: UploadContext,
  uploadUrl: string,
  request: UploadRequest,
  asked: Pick<Declared, 'lengthBytes' | 'uploadMetadataHeader' | 'concat'> & { lanes: number | undefined },
): Promise<UploadResponse> {
  const { upload } = await lookUpAgain(context, request, asked.lanes)
  // A length that was deferred may have been declared since.
  const isAsLong = asked.lengthBytes === null || asked.lengthBytes === upload.lengthBytes
  const isAlike = asked.uploadMetadataHeader === upload.uploadMetadataHeader && asked.concat === upload.concat
  if (!isAsLong || !isAlike)
    throw new SluiceError(
      'invalid_header',
      'This Idempotency-Key was used for another file within the last day.',
    )
  const { pipeId } = request
  const headers = {
    Location: uploadAddress(uploadUrl, pipeId, upload.id),
    ...(upload.status === 'uploading' && expiresHeader(upload.expiresAtMs)),
    'Upload-Offset': String(toldProgress(upload).offsetBytes),
    ...resultHeader(upload.decision?.result),
  }
  const lanes = await lanesOf(context, upload)
  return lanes
    ? describeLanes({ status: 201, headers }, { uploadUrl, pipeId, lanes })
    : { status: 201, headers }
}

/** Longer than it usually takes to divide a file into lanes. */
const DIVIDING_MS = seconds(15)

/** The first request may still be dividing the file. If that takes too long, the file has one writer. */
async function lookUpAgain(context: UploadContext, request: UploadRequest, lanes: number | undefined) {
  const found = await lookUp(context, request)
  const { upload } = found
  if (!lanes || upload.lanes) return found
  if (context.clock.now() - uuidv7Ms(upload.id) < DIVIDING_MS)
    throw notNow('The first request may still be dividing the file. Try again in a moment.', {
      'Retry-After': '2',
    })
  await keepUndivided(context, upload.id)
  return lookUp(context, request)
}

const MAX_KEY_LENGTH = 255

function readIdempotencyKey({ headers }: UploadRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined || (typeof key === 'string' && key.length > 0 && key.length <= MAX_KEY_LENGTH))
    return key
  throw new SluiceError('invalid_header', `Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters.`)
}

async function joinUploads(
  context: UploadContext,
  uploadUrl: string,
  { request, concat }: { request: UploadRequest; concat: FinalConcat },
): Promise<UploadResponse> {
  // "The Client MUST NOT include the Upload-Length header in the final upload creation."
  if (request.headers['upload-length'] !== undefined || deferHeader(request))
    throw new SluiceError(
      'invalid_header',
      'The length of a final upload is the sum of the lengths of its partial uploads: leave out Upload-Length.',
    )
  const declared = {
    ...readMetadata(request),
    lengthBytes: null,
    concat: 'final' as const,
    protocol: request.protocol,
  }
  const right = await authenticateToCreate(context, request)
  const { fileId } = await createFinal(context, right, declared, {
    partialIds: concat.partialIds,
    concatHeader: concat.header,
  })
  noteRequest({ fileId })
  const location = { Location: uploadAddress(uploadUrl, request.pipeId, fileId) }
  if (!right.pipe.hooks.includes('before_complete')) return { status: 201, headers: location }
  const { result } = await decided(context, { fileId, progress: { lengthBytes: null, lengthCameLast: null } })
  return { status: 201, headers: { ...location, ...resultHeader(result) } }
}

/** How many lanes the client asks for at most. Undefined if it does not ask. */
function readLanesAsked(
  request: UploadRequest,
  {
    lengthBytes,
    concat,
    hasBody,
  }: { lengthBytes: number | null; concat: 'partial' | null; hasBody: boolean },
): number | undefined {
  const asked = request.headers['upload-lanes']
  if (asked === undefined) return undefined
  const count = typeof asked === 'string' && /^\d{1,4}$/.test(asked) ? Number(asked) : 0
  if (count < 1 || count > MAX_LANES)
    throw new SluiceError('invalid_header', `Upload-Lanes must be a number from 1 to ${MAX_LANES}.`)
  if (lengthBytes === null)
    throw new SluiceError('invalid_header', 'Lanes divide a file of known length: send Upload-Length.')
  if (concat)
    throw new SluiceError('invalid_header', 'Upload-Lanes and Upload-Concat are mutually exclusive.')
  if (hasBody)
    throw new SluiceError(
      'invalid_header',
      'Create a file with lanes without a body, and send the bytes to its lanes.',
    )
  return count
}

function readLength(request: UploadRequest): number | null {
  const length = countHeader(request, 'upload-length')
  const deferred = deferHeader(request)
  if (length === undefined && !deferred)
    throw new SluiceError('invalid_header', 'POST requires Upload-Length, or Upload-Defer-Length: 1.')
  if (length !== undefined && deferred)
    throw new SluiceError('invalid_header', 'Upload-Length and Upload-Defer-Length are mutually exclusive.')
  return length ?? null
}

function readMetadata({ headers }: UploadRequest): Omit<Declared, 'lengthBytes' | 'concat' | 'protocol'> {
  const { header, filename, filetype, custom } = parseUploadMetadata(headers['upload-metadata'])
  const relativePath = custom.relativePath ?? null
  return {
    filename,
    filetype,
    relativePath,
    checksums: declaredChecksums({ headers }),
    batch: custom.batch,
    uploadMetadata: custom,
    uploadMetadataHeader: header,
  }
}
