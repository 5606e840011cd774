import { handleApiRequest } from '#lib/api/handle-request.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { stopping } from '../../../stopping.ts'

export const dynamic = 'force-dynamic'

/** The management API. New tokens are answered before Next.js (decision 31). */
const answer = (request: Request): Promise<Response> =>
  handleApiRequest(getRuntime(), request, AbortSignal.any([request.signal, stopping]))

/** Includes methods that no operation uses, so that they get the API's own 405. */
export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
}
