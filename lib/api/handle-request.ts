import { Readable } from 'node:stream'
import type { Runtime } from '../platform/runtime.ts'
import { answerRequest } from './answer-request.ts'

/** For the route handlers of Next. A stream ends with the signal. */
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
