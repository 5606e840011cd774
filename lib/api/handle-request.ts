import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { invariant } from '../platform/kernel/errors.ts'
import type { Runtime } from '../platform/runtime.ts'
import { type ApiRequest, answerRequest } from './answer-request.ts'

/** For Next.js route handlers. A stream ends when the signal aborts. */
export async function handleApiRequest(
  runtime: Runtime,
  request: Request,
  signal = request.signal,
): Promise<Response> {
  const { method, url, headers, body } = request
  const { body: answered, ...head } = await answerRequest(runtime, { method, url, headers, body, signal })
  if (answered === null || typeof answered === 'string') return new Response(answered, head)
  const text = Readable.toWeb(Readable.from(answered, { highWaterMark: 1 })) as ReadableStream<string>
  return new Response(text.pipeThrough(new TextEncoderStream()), head)
}

/** For requests that the front door answers without Next, using the route handlers' function. */
export function createApiHandler(
  runtime: Runtime,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    const { status, headers, body } = await answerRequest(runtime, toApiRequest(req))
    invariant(body === null || typeof body === 'string', 'streams are served by the route handlers')
    const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    res.writeHead(status, { ...headers, ...length }).end(body ?? undefined)
    // The rest of a refused body precedes the connection's next request.
    req.resume()
  }
}

function toApiRequest(req: IncomingMessage): ApiRequest {
  return {
    method: req.method ?? '',
    url: `http://${req.headers.host}${req.url}`,
    headers: {
      get(name) {
        const value = req.headers[name]
        return Array.isArray(value) ? value.join(', ') : (value ?? null)
      },
    },
    // The refusal of a long body must still reach its sender.
    body: req.iterator({ destroyOnReturn: false }),
  }
}
