import { toProblem } from '../../platform/http/problem.ts'
import { readBytes } from '../../platform/http/read-request.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { receiveMessage } from './receive-message.ts'

const MAX_BODY_BYTES = 256 * 1024

export async function handleInboxRequest(
  runtime: Runtime,
  request: Request,
  inboxKey: string,
): Promise<Response> {
  try {
    const bytes = await readBytes(request, MAX_BODY_BYTES)
    await receiveMessage(runtime, inboxKey, { headers: request.headers, body: bytes.toString('utf8') })
    return new Response(null, { status: 204, headers: { 'Cache-Control': 'no-store' } })
  } catch (error) {
    const { status, headers, body } = toProblem(error, runtime.config.baseUrl)
    if (status >= 500) runtime.log.error({ err: error }, 'the inbox failed')
    return new Response(body, { status, headers })
  }
}
