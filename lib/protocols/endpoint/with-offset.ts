import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import type { OpenUpload } from '../../uploads/open-upload.ts'
import { readProgress } from '../../uploads/read-progress.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'

/** A writer that lost its upload learns where it stands now, or that it has ended. */
export async function withOffset(
  context: UploadContext,
  { fileId }: OpenUpload,
  error: unknown,
): Promise<unknown> {
  if (!isSluiceError(error) || error.code !== 'upload_locked' || error.headers['Upload-Offset']) return error
  const now = await readProgress(context, fileId).catch(() => undefined)
  if (!now) return error
  if (!['uploading', 'transferring', 'transferred'].includes(now.status))
    return new SluiceError('upload_gone', 'The upload was ended while this request was writing it.')
  return new SluiceError('upload_locked', error.message, {
    headers: { 'Upload-Offset': String(now.offsetBytes) },
  })
}
