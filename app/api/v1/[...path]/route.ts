import { handleApiRequest } from '#lib/api/handle-request.ts'
import { getRuntime } from '#lib/runtime.ts'

export const dynamic = 'force-dynamic'

const answer = (request: Request) => handleApiRequest(getRuntime(), request)

export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
}
