import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { type Appended, appendBytes } from '../../uploads/append.ts'
import type { ByteSource } from '../../uploads/byte-source.ts'
import { declareLength } from '../../uploads/declare-length.ts'
import type { UploadRight } from '../../uploads/ledger/upload-rights.ts'
import { maxUploadBytes, tooLarge } from '../../uploads/may-create.ts'
import { letUploadGo, type OpenUpload, openUpload, wholeOf } from '../../uploads/open-upload.ts'
import { readStanding } from '../../uploads/read-standing.ts'
import { renewReservation } from '../../uploads/renew-reservation.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToContinue } from './authenticate.ts'
import { type BodyCheck, bodyCheck } from './checksum.ts'
import { assertStillThere, expiresHeader } from './head-upload.ts'
import { observed, RequestSource } from './request-source.ts'
import {
  assertOffsetStream,
  bodyBytes,
  countHeader,
  requiredFileId,
  type TusAnswer,
  type TusRequest,
} from './tus-request.ts'

/** What the headers say, judged before the database is touched. */
type Chunk = {
  offsetBytes: number
  lengthBytes: number | undefined
  bytes: number | undefined
  check: BodyCheck | undefined
  source: ByteSource
}

/** Undefined: the client is gone, and there is nobody to answer. */
export async function patchUpload(
  context: UploadContext,
  request: TusRequest,
): Promise<TusAnswer | undefined> {
  assertOffsetStream(request)
  const chunk = readChunk(request)
  const hasLease = context.leases.incoming.track(requiredFileId(request))
  const opened = await open(context, request, chunk).finally(hasLease)
  if ('status' in opened) return opened
  const { right, upload } = opened
  return carry(context, right, upload, chunk)
}

type Opened = { right: UploadRight; upload: OpenUpload }

/** Everything that can be refused before the body is read. */
async function open(context: UploadContext, request: TusRequest, chunk: Chunk): Promise<Opened | TusAnswer> {
  const right = await authenticateToContinue(
    context,
    request,
    wholeOf(context, { ...chunk, origin: request.origin }),
  )
  // An active writer extends the expiry.
  if (!right.upload.leased) assertStillThere(right.upload, context.clock.now())
  try {
    return await take(context, right, { request, chunk })
  } catch (error) {
    throw tellExpiry(error, right.upload)
  }
}

async function take(
  context: UploadContext,
  right: UploadRight,
  { request, chunk }: { request: TusRequest; chunk: Chunk },
): Promise<Opened | TusAnswer> {
  if (right.upload.status !== 'uploading') return answerFinished(right, chunk)
  if (!right.upload.leased) assertOffset(right.upload.offsetBytes, chunk)
  const upload = await openUpload(context, right, chunk)
  // It ended while we waited for its lease.
  if (!upload) return open(context, request, chunk)
  try {
    await prepare(context, right, upload, chunk)
    return { right, upload }
  } catch (error) {
    await letUploadGo(upload)
    throw error
  }
}

/** Upload-Expires "MUST be included in every PATCH response if the upload is going to expire": refusals, too. */
function tellExpiry(error: unknown, { status, expiresAtMs }: UploadRight['upload']): unknown {
  if (isSluiceError(error) && error.code !== 'upload_gone' && status === 'uploading')
    Object.assign(error.headers, { ...expiresHeader(expiresAtMs), ...error.headers })
  return error
}

function readChunk(request: TusRequest): Chunk {
  const offsetBytes = countHeader(request, 'upload-offset')
  if (offsetBytes === undefined) throw new SluiceError('invalid_header', 'PATCH needs Upload-Offset.')
  const lengthBytes = countHeader(request, 'upload-length')
  const said = { offsetBytes, lengthBytes, bytes: bodyBytes(request), check: bodyCheck(request) }
  return { ...said, source: new RequestSource(request.body) }
}

function assertOffset(confirmedBytes: number, { offsetBytes }: Chunk): void {
  if (offsetBytes === confirmedBytes) return
  throw new SluiceError('offset_conflict', `The confirmed offset is ${confirmedBytes}, not ${offsetBytes}.`, {
    headers: { 'Upload-Offset': String(confirmedBytes) },
  })
}

/** An empty PATCH at the end of a finished upload changes nothing. */
function answerFinished({ upload }: UploadRight, chunk: Chunk): TusAnswer {
  if (upload.concat === 'final') throw new SluiceError('upload_is_final')
  assertOffset(upload.offsetBytes, chunk)
  if (chunk.bytes !== 0) throw new SluiceError('file_too_large', 'The upload has all its bytes already.')
  return { status: 204, headers: { 'Upload-Offset': String(upload.offsetBytes) } }
}

async function prepare(
  context: UploadContext,
  right: UploadRight,
  upload: OpenUpload,
  chunk: Chunk,
): Promise<void> {
  assertStillThere({ ...right.upload, expiresAtMs: upload.expiresAtMs }, context.clock.now())
  assertOffset(upload.offsetBytes, chunk)
  if (upload.tailBytes === 0) context.tailCap.assertRoom(upload.workspaceId)
  if (chunk.bytes !== 0) await renewReservation(context, upload)
  if (chunk.lengthBytes !== undefined && chunk.lengthBytes !== upload.lengthBytes)
    await declareLength(context, upload, {
      lengthBytes: chunk.lengthBytes,
      maxBytes: maxBytesOf(right, upload),
    })
  if (chunk.bytes !== undefined && chunk.bytes > limitBytesOf(right, upload)) throw excess(right, upload)
}

async function carry(
  context: UploadContext,
  right: UploadRight,
  upload: OpenUpload,
  chunk: Chunk,
): Promise<TusAnswer | undefined> {
  const { check } = chunk
  const source = check ? observed(chunk.source, (piece) => check.update(piece)) : chunk.source
  const options = {
    limitBytes: limitBytesOf(right, upload),
    ...(check && { verify: () => check.verify() }),
  }
  context.metrics.uploadsOpen.inc()
  try {
    return answerAppended(upload, await appendBytes(context, upload, source, options))
  } catch (error) {
    throw await withOffset(context, upload, error)
  } finally {
    context.metrics.uploadsOpen.dec()
  }
}

function answerAppended(upload: OpenUpload, { offsetBytes, why, state }: Appended): TusAnswer | undefined {
  const headers = {
    'Upload-Offset': String(offsetBytes),
    ...(state === 'uploading' && expiresHeader(upload.expiresAtMs)),
  }
  if (why === 'cut') return undefined
  if (state !== 'uploading' || why === 'end') return { status: 204, headers }
  if (why === 'preempted')
    throw new SluiceError('upload_locked', 'Another request has continued this upload.', { headers })
  throw new SluiceError('unavailable', 'This node is stopping. Resume the upload at once.', {
    headers: { ...headers, 'Retry-After': '1' },
  })
}

/** A writer that lost its upload learns where it stands now, or that it has ended. */
async function withOffset(context: UploadContext, { fileId }: OpenUpload, error: unknown): Promise<unknown> {
  if (!isSluiceError(error) || error.code !== 'upload_locked' || error.headers['Upload-Offset']) return error
  const now = await readStanding(context, fileId).catch(() => undefined)
  if (!now) return error
  if (!['uploading', 'transferring', 'transferred'].includes(now.status))
    return new SluiceError('upload_gone', 'The upload was ended while this request was writing it.')
  return new SluiceError('upload_locked', error.message, {
    headers: { 'Upload-Offset': String(now.offsetBytes) },
  })
}

function maxBytesOf({ token, pipe }: UploadRight, { limits }: OpenUpload): number {
  return maxUploadBytes(limits, { tokenBytes: token.maxBytes, pipeBytes: pipe.maxFileBytes })
}

function limitBytesOf(right: UploadRight, upload: OpenUpload): number {
  return (upload.lengthBytes ?? maxBytesOf(right, upload)) - upload.offsetBytes
}

function excess(right: UploadRight, upload: OpenUpload): SluiceError {
  if (upload.lengthBytes === null) return tooLarge(maxBytesOf(right, upload))
  const rest = upload.lengthBytes - upload.offsetBytes
  return new SluiceError('file_too_large', `Only ${rest} bytes are missing, and the body has more.`)
}
