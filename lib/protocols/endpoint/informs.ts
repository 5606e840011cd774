import type { IncomingMessage, ServerResponse } from 'node:http'
import type { UploadRequest } from './upload-request.ts'

/** Node 22 cannot send interim answers of any status, and clients of HTTP/1.0 do not expect one. */
export function informs(req: IncomingMessage, res: ServerResponse): UploadRequest['inform'] {
  if (typeof res.writeInformation !== 'function' || req.httpVersion === '1.0') return undefined
  return (status, headers) => {
    if (res.headersSent || res.destroyed || !res.socket?.writable) return false
    res.writeInformation(status, headers)
    return true
  }
}
