import { handleApiRequest } from '#lib/api/handle-request.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export const answer = (request: Request): Promise<Response> => handleApiRequest(getRuntime(), request)
