import { cancelUpload, retireUpload } from '../../uploads/endings/end-upload.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToContinue } from './authenticate.ts'
import { assertStillThere } from './look-up.ts'
import type { UploadRequest, UploadResponse } from './upload-request.ts'

/** Cancels an unfinished upload. A finished one only loses its address, since its object belongs to the customer. */
export async function deleteUpload(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const { upload } = await authenticateToContinue(context, request)
  assertStillThere(upload, context.clock.now())
  if (upload.status === 'transferred') await retireUpload(context, upload.id)
  else await cancelUpload(context, { fileId: upload.id, workspaceId: upload.workspaceId })
  return { status: 204, headers: {} }
}
