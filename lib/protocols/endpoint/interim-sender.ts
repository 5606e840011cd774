import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UploadRequest } from './upload-request.ts'

/** Undefined if interim responses cannot be sent: Node 22 knows only some of their statuses, and HTTP/1.0 has none. */
export function interimSender(req: IncomingMessage, res: ServerResponse): UploadRequest['sendInterim'] {
  if (typeof res.writeInformation !== 'function' || req.httpVersion === '1.0') return undefined
  return (status, headers) => {
    if (res.headersSent || res.destroyed || !res.socket?.writable) return false
    res.writeInformation(status, headers)
    return true
  }
}
