import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UploadRequest, UploadResponse } from './upload-request.ts'

const DRAIN_BYTES = 64 * 1024 * 1024
const DRAIN_MS = 30_000
const DRAIN_IDLE_MS = 1000

/**
 * Many clients read a response only once they have sent their whole body, and lose it if the connection is closed before
 * that. So what a refused client still sends is read and dropped, within these limits.
 */
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
  drain(req, () => res.end())
}

function drain(req: IncomingMessage, end: () => void): void {
  let leftBytes = DRAIN_BYTES
  const idle = setTimeout(end, DRAIN_IDLE_MS)
  const longest = setTimeout(end, DRAIN_MS)
  // A source that was never started would hold the body back.
  req.removeAllListeners('data')
  req.on('data', (chunk: Buffer) => {
    idle.refresh()
    leftBytes -= chunk.length
    if (leftBytes < 0) end()
  })
  req.once('end', end).once('close', () => {
    clearTimeout(idle)
    clearTimeout(longest)
  })
  req.resume()
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  )
}

/** Undefined if interim responses cannot be sent: Node 22 knows only some of their statuses, and HTTP/1.0 has none. */
export function interimSender(req: IncomingMessage, res: ServerResponse): UploadRequest['sendInterim'] {
  if (typeof res.writeInformation !== 'function' || req.httpVersion === '1.0') return undefined
  return (status, headers) => {
    if (res.headersSent || res.destroyed || !res.socket?.writable) return false
    res.writeInformation(status, headers)
    return true
  }
}
