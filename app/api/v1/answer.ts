import { handleApiRequest } from '#lib/api/handle-request.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { stopping } from '../../stopping.ts'

export const answer = (request: Request): Promise<Response> =>
  handleApiRequest(getRuntime(), request, AbortSignal.any([request.signal, stopping]))
