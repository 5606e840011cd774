import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Appended } from '../../uploads/append.ts'
import type { Progress } from '../../uploads/opening/upload.ts'
import { describeFile } from '../endpoint/describe-file.ts'
import type { UploadResponse } from '../endpoint/upload-request.ts'
import { inconsistentLength } from './problems.ts'
import { stateHeaders } from './state-headers.ts'
import type { Version } from './versions.ts'

/** The response to a creation or an append: the finished file, or the current offset. */
export function appendResponse(
  version: Version,
  upload: { fileId: string; progress: Pick<Progress, 'crc32' | 'lengthBytes'> },
  { offsetBytes, why, state }: Appended,
  about: { complete: boolean; filename: string; location: string; limits: Record<string, string> },
): UploadResponse {
  const { complete, filename, location, limits } = about
  if (state !== 'uploading') {
    const response = describeFile(upload, { offsetBytes, state }, { filename, location })
    return {
      ...response,
      headers: { ...response.headers, ...stateHeaders(version, { complete: true, offsetBytes }) },
    }
  }
  if (why !== 'end')
    throw new SluiceError(
      'unavailable',
      'The upload was stopped here. Ask for its offset and continue at once.',
      {
        headers: { 'Retry-After': '1' },
      },
    )
  if (complete)
    throw inconsistentLength(
      `Upload-Length is ${upload.progress.lengthBytes}, but the upload ends at ${offsetBytes}.`,
    )
  const headers = stateHeaders(version, { complete: false, offsetBytes })
  return { status: 201, headers: { Location: location, ...headers, ...limits } }
}
