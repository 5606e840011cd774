import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { readProgress } from '../../uploads/opening/report-offset.ts'
import type { Upload } from '../../uploads/opening/upload.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'

/**
 * For a writer that has lost its lease: adds the current offset to the error, or replaces it if the upload has ended.
 */
export async function withOffset(
  context: UploadContext,
  { fileId }: Upload,
  error: unknown,
): Promise<unknown> {
  if (!isSluiceError(error) || error.code !== 'upload_locked' || error.headers['Upload-Offset']) return error
  const now = await readProgress(context, fileId).catch(() => undefined)
  if (!now) return error
  if (!['uploading', 'transferring', 'transferred'].includes(now.status))
    return new SluiceError('upload_gone', 'The upload ended while this request was writing it.')
  return new SluiceError('upload_locked', error.message, {
    headers: { 'Upload-Offset': String(now.offsetBytes) },
  })
}
