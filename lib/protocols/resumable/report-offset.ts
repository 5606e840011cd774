import type { UploadContext } from '../../uploads/upload-context.ts'
import { lookUp } from '../endpoint/look-up.ts'
import type { UploadRequest, UploadResponse } from '../endpoint/upload-request.ts'
import { limitsOf } from './limits-of.ts'
import { stateHeaders } from './state-headers.ts'
import { spokenVersion } from './versions.ts'

/** Offset Retrieval. Reaching its length does not complete an upload: it is complete once its client has said so. */
export async function reportOffset(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const version = spokenVersion(request.headers)
  const right = await lookUp(context, request)
  const { status, offsetBytes, lengthBytes, expiresAtMs } = right.upload
  return {
    status: 204,
    headers: {
      ...stateHeaders(version, { complete: status !== 'uploading', offsetBytes, lengthBytes }),
      ...limitsOf(context, right, version, expiresAtMs),
      'Cache-Control': 'no-store',
    },
  }
}
