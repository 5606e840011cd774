/** Cross-origin answers (Fetch, 3.2). Nothing here is decided by cookies, so any origin may read any answer. */
const EXPOSED = [
  'Location',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Concat',
  'Upload-Expires',
  'Upload-Complete',
  'Upload-Limit',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Retry-After',
  'X-Request-Id',
].join(', ')

const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Digest',
  'Content-Disposition',
  'Content-MD5',
  'Content-Type',
  'Repr-Digest',
  'Tus-Resumable',
  'Upload-Checksum',
  'Upload-Complete',
  'Upload-Concat',
  'Upload-Defer-Length',
  'Upload-Draft-Interop-Version',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'X-HTTP-Method-Override',
  'X-Request-Id',
  'X-Requested-With',
].join(', ')

export const METHODS = 'POST, PUT, HEAD, PATCH, DELETE, OPTIONS'

/** On every answer, errors included. */
export function corsHeaders(origin: string | null): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': origin ?? '*',
    'Access-Control-Expose-Headers': EXPOSED,
    Vary: 'Origin',
  }
}

/** Without leave, the browser itself keeps the page from sending. */
export function preflight(origin: string | null, allowed: boolean): Record<string, string> {
  if (!allowed) return { Vary: 'Origin' }
  return {
    'Access-Control-Allow-Origin': origin ?? '*',
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': '86400',
    Vary: 'Origin',
  }
}

export function isAllowedOrigin(allowedOrigins: readonly string[], origin: string | null): boolean {
  return origin === null || allowedOrigins.length === 0 || allowedOrigins.includes(origin)
}
