import { endUpload } from './end-upload.ts'
import { lacksBytes } from './ledger/interrupted-uploads.ts'
import type { UploadContext } from './upload-context.ts'

/** An upload that only its first request could have brought, and that request was cut. False if it had ended already. */
export function endInterrupted(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
  fileId: string,
): Promise<boolean> {
  const end = { status: 'failed', reason: 'interrupted', from: ['uploading'], provided: lacksBytes } as const
  return endUpload(context, fileId, end)
}
