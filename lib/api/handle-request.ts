import type { Runtime } from '../platform/runtime.ts'
import { answerRequest } from './answer-request.ts'

/** For the route handlers of Next. */
export async function handleApiRequest(runtime: Runtime, request: Request): Promise<Response> {
  const { body, ...head } = await answerRequest(runtime, request)
  return new Response(body, head)
}
