import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { createInbox } from '../dashboard/inbox.ts'
import { invariant } from '../platform/kernel/errors.ts'
import type { Runtime } from '../platform/runtime.ts'
import { type ApiRequest, answerRequest } from './answer-request.ts'

/** Handles requests from Next.js route handlers. Streams end when the request's signal is aborted. */
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

const INBOX = '/api/inbox/'

/** Handles the requests that the front door does not pass to Next.js. */
export function createApiHandler(
  runtime: Runtime,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const inbox = createInbox(runtime)
  return async (req, res) => {
    const path = req.url!.split('?', 1)[0]!
    const request = toApiRequest(req)
    const answering = path.startsWith(INBOX)
      ? inbox(request, path.slice(INBOX.length))
      : answerRequest(runtime, request)
    const { status, headers, body } = await answering
    invariant(body === null || typeof body === 'string', 'streams are served by the route handlers')
    const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
    res.writeHead(status, { ...headers, ...length }).end(body ?? undefined)
    // Discards the rest of a rejected body, so that the next request on the connection can be read.
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
    // Keeps the connection open, so that a client whose body is too long still gets the response.
    body: req.iterator({ destroyOnReturn: false }),
  }
}
