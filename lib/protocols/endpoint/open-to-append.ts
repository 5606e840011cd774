import { SluiceError } from '../../platform/kernel/errors.ts'
import { openForBytes } from '../../uploads/opening/open-for-bytes.ts'
import { wholeFileRequest } from '../../uploads/opening/open-upload.ts'
import type { Upload } from '../../uploads/opening/upload.ts'
import type { Checksums } from '../../uploads/rules/checksums.ts'
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
  /** The checksums of the entire file. */
  checksums: Checksums
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
  const { bytes, lengthBytes, offsetBytes: fromBytes } = chunk
  const whole = wholeFileRequest(context, { ...chunk, origin, protocol })
  const authenticate = () => authenticateToContinue(context, request, whole)
  const taking = whole && { rowId: requiredFileId(request), claim: whole.claim.claim }
  const right = await (taking ? context.leases.undoneIfLost(taking, authenticate) : authenticate())
  // The expiry of a leased upload is checked later, because its writer may extend it.
  if (!right.upload.leased) assertStillThere(right.upload, context.clock.now())
  if (right.upload.status !== 'uploading' || repeatsLastByte(right.upload, chunk))
    return { right, upload: undefined, limitBytes: 0 }
  if (right.upload.lanes) throw new SluiceError('upload_has_lanes')
  try {
    const opened = await openForBytes(context, right, { fromBytes, bytes, lengthBytes })
    if (opened.kind === 'moved') throw offsetConflict(opened.toldBytes, chunk)
    if (opened.kind === 'open') return { right, ...opened }
  } catch (error) {
    throw asked.refuse(error, right.upload)
  }
  // The upload ended while this request waited for its lease.
  return open(context, asked)
}

/** Throws unless the bytes start at the confirmed offset. */
export function assertOffset(confirmedBytes: number, chunk: Pick<Chunk, 'offsetBytes'>): void {
  if (chunk.offsetBytes !== confirmedBytes) throw offsetConflict(confirmedBytes, chunk)
}

/**
 * `toldBytes` is the offset to report, which differs from the confirmed one if the client must not consider the file
 * finished yet.
 */
function offsetConflict(toldBytes: number, { offsetBytes }: Pick<Chunk, 'offsetBytes'>): SluiceError {
  return new SluiceError('offset_conflict', `The confirmed offset is ${toldBytes}, not ${offsetBytes}.`, {
    headers: { 'Upload-Offset': String(toldBytes) },
  })
}
