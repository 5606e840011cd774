import { SluiceError } from '../../platform/kernel/errors.ts'
import { readStatus } from '../ledger/read-status.ts'
import type { UploadContext } from '../upload-context.ts'
import { endUpload } from './end-upload.ts'

type Canceling = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>

/**
 * Cancels an unfinished upload for its client or the customer. A request that is writing it loses its lease and stops.
 */
export async function cancelUpload(
  context: Canceling,
  upload: { fileId: string; workspaceId: string },
): Promise<void> {
  const { fileId } = upload
  let status = await readStatus(context.db, upload)
  const end = { status: 'canceled', reason: null, from: ['uploading'] } as const
  if (status === 'uploading') {
    if (await endUpload(context, fileId, end)) return
    // It ended in the meantime: the same request may have been made twice.
    status = await readStatus(context.db, upload)
  }
  if (!status) throw new SluiceError('upload_not_found')
  if (status === 'canceled') return
  const words =
    status === 'uploading' || status === 'transferring'
      ? 'All its bytes are here and it is being completed, so it can no longer be canceled.'
      : `It is already ${status}.`
  throw new SluiceError('conflict', words)
}
