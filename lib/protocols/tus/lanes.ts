import { SluiceError } from '../../platform/kernel/errors.ts'
import { lanesOf } from '../../uploads/opening/report-offset.ts'
import type { LaneRow, UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToContinue } from '../endpoint/authenticate.ts'
import { METHODS } from '../endpoint/cors.ts'
import { assertStillThere } from '../endpoint/look-up.ts'
import { type UploadRequest, type UploadResponse, uploadAddress } from '../endpoint/upload-request.ts'

/**
 * Lanes: an extension of TUS for files that are sent over several connections. Each lane has an address of its own, to
 * which any TUS client can send its range of the file.
 */

type Listed = { uploadUrl: string; pipeId: string; lanes: readonly LaneRow[] }

/** Adds the list of a file's lanes to a response. */
export function describeLanes(
  { status, headers }: UploadResponse,
  { uploadUrl, pipeId, lanes }: Listed,
): UploadResponse {
  const listed = lanes.map(({ id, firstByte, lengthBytes, offsetBytes }) => ({
    url: uploadAddress(uploadUrl, pipeId, id),
    firstByte,
    length: lengthBytes,
    offset: offsetBytes,
  }))
  const ofLanes = {
    'Upload-Lanes': String(lanes.length),
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  }
  return { status, headers: { ...headers, ...ofLanes }, body: JSON.stringify({ lanes: listed }) }
}

/** Lists the lanes of a file, for a client that continues it. */
export async function getLanes(
  context: UploadContext,
  uploadUrl: string,
  request: UploadRequest,
): Promise<UploadResponse> {
  const { upload } = await authenticateToContinue(context, request)
  assertStillThere(upload, context.clock.now())
  const lanes = await lanesOf(context, upload)
  if (!lanes)
    throw new SluiceError(
      'method_not_allowed',
      'The upload has no lanes to list. Request its offset with HEAD.',
      {
        headers: { Allow: METHODS },
      },
    )
  return describeLanes({ status: 200, headers: {} }, { uploadUrl, pipeId: request.pipeId, lanes })
}
