import { sealOwnBatch } from '../../batches/seal-batch.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { authenticateToCreate } from '../endpoint/authenticate.ts'
import type { UploadRequest, UploadResponse } from '../endpoint/upload-request.ts'
import { parseUploadMetadata } from './tus-headers.ts'

/**
 * Handles POST …/batches/seal. The request repeats the Upload-Metadata of the batch's uploads, or just the `batch` in
 * it. If the token names the batch, neither is needed, so clients of other protocols can use this, too.
 */
export async function sealByUploader(
  context: UploadContext,
  request: UploadRequest,
): Promise<UploadResponse> {
  if (request.method !== 'POST') throw new SluiceError('method_not_allowed', 'Seal a batch with POST.')
  const { custom } = parseUploadMetadata(request.headers['upload-metadata'])
  const right = await authenticateToCreate(context, request)
  const batch = await sealOwnBatch(context, right, custom.batch)
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status: 200, headers, body: JSON.stringify(batch) }
}
