import { emptyAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'

/** As S3: an object that is not there is deleted, too. */
export const deleteObject: Perform = async ({ request, storage }) => {
  await storage.objects.remove(request.key)
  return emptyAnswer(204)
}
