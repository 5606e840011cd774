import { emptyAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'

export const abortMultipartUpload: Perform = async ({ request, storage }) => {
  const { id } = await storage.uploads.find(request.query.get('uploadId')!, request.key)
  await storage.uploads.abort(id)
  return emptyAnswer(204)
}
