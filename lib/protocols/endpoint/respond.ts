import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UploadResponse } from './upload-request.ts'

/** How long the connection stays open for a client that is still sending, so that it can read the response. */
const LINGER_MS = 1000

export function respond(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: UploadResponse,
): void {
  if (res.destroyed || res.headersSent) return
  const early = !req.complete && hasBody(req)
  const head = req.method === 'HEAD' || status === 204
  const length = head && body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body ?? '')) }
  res.writeHead(status, { ...headers, ...length, ...(early && { Connection: 'close' }) })
  if (!early) return void res.end(head ? undefined : body)
  res.flushHeaders()
  if (body && !head) res.write(body)
  req.resume()
  const end = () => res.end()
  const timer = setTimeout(end, LINGER_MS)
  req.once('end', end).once('close', () => clearTimeout(timer))
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  )
}
