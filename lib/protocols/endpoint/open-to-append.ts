import { SluiceError } from '../../platform/kernel/errors.ts'
import {
  openUpload,
  prepareToAppend,
  releaseUpload,
  wholeFileRequest,
} from '../../uploads/opening/open-upload.ts'
import type { Upload } from '../../uploads/opening/upload.ts'
import { toldOffset } from '../../uploads/rules/decision.ts'
import type { UploadContext, UploadRight } from '../../uploads/upload-context.ts'
import { authenticateToContinue } from './authenticate.ts'
import { repeatsLastByte } from './decision.ts'
import { assertStillThere } from './look-up.ts'
import type { Body } from './receive-body.ts'
import { requiredFileId, type UploadRequest } from './upload-request.ts'

/** The headers' information about the body, which is checked before the database is queried. */
export type Chunk = Body & {
  offsetBytes: number
  lengthBytes: number | undefined
  bytes: number | undefined
  /** The checksum of the entire file. */
  crc32: number | undefined
}

/** If `upload` is undefined, the file accepts no more bytes; otherwise, it accepts up to `limitBytes` more. */
type Opened = { right: UploadRight; upload: Upload | undefined; limitBytes: number }
type AppendRequest = { request: UploadRequest; chunk: Chunk; refuse: Refuse }
/** Converts an error for the client. */
type Refuse = (error: unknown, upload: UploadRight['upload']) => unknown

/** Opens the upload for this request, after all checks that do not need the body. */
export async function openToAppend(
  context: UploadContext,
  request: UploadRequest,
  chunk: Chunk,
  refuse: Refuse = (error) => error,
): Promise<Opened> {
  const hasLease = context.leases.incoming.track(requiredFileId(request))
  return open(context, { request, chunk, refuse }).finally(hasLease)
}

async function open(context: UploadContext, asked: AppendRequest): Promise<Opened> {
  const { request, chunk } = asked
  const { origin, protocol } = request
  const whole = wholeFileRequest(context, { ...chunk, origin, protocol })
  const right = await authenticateToContinue(context, request, whole)
  // The expiry of a leased upload is checked later, because its writer may extend it.
  if (!right.upload.leased) assertStillThere(right.upload, context.clock.now())
  try {
    return await take(context, right, asked)
  } catch (error) {
    throw asked.refuse(error, right.upload)
  }
}

async function take(context: UploadContext, right: UploadRight, asked: AppendRequest): Promise<Opened> {
  const { chunk } = asked
  if (right.upload.status !== 'uploading' || repeatsLastByte(right.upload, chunk))
    return { right, upload: undefined, limitBytes: 0 }
  if (!right.upload.leased) assertOffset(right.upload.offsetBytes, chunk, toldOffset(right.upload))
  const upload = await openUpload(context, right, chunk)
  // The upload ended while this request waited for its lease.
  if (!upload) return open(context, asked)
  try {
    return { right, upload, limitBytes: await prepare(context, right, upload, chunk) }
  } catch (error) {
    await releaseUpload(upload)
    throw error
  }
}

/**
 * `toldBytes` is the offset to report, which differs from the confirmed one if the client must not consider the file
 * finished yet.
 */
export function assertOffset(
  confirmedBytes: number,
  { offsetBytes }: Pick<Chunk, 'offsetBytes'>,
  toldBytes = confirmedBytes,
): void {
  if (offsetBytes === confirmedBytes) return
  throw new SluiceError('offset_conflict', `The confirmed offset is ${toldBytes}, not ${offsetBytes}.`, {
    headers: { 'Upload-Offset': String(toldBytes) },
  })
}

/** Returns how many more bytes the upload accepts. */
async function prepare(
  context: UploadContext,
  right: UploadRight,
  upload: Upload,
  chunk: Chunk,
): Promise<number> {
  assertStillThere({ ...right.upload, expiresAtMs: upload.progress.expiresAtMs }, context.clock.now())
  const { offsetBytes, lengthBytes, lengthCameLast } = upload.progress
  const { decision } = right.upload
  assertOffset(offsetBytes, chunk, toldOffset({ offsetBytes, lengthBytes, lengthCameLast, decision }))
  return prepareToAppend(context, right, upload, chunk)
}
