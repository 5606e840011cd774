/** Cross-origin responses (Fetch, 3.2). Any origin may read any response, because cookies are not used. */
const EXPOSED = [
  'Location',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Concat',
  'Upload-Expires',
  'Upload-Lanes',
  'Upload-Complete',
  'Upload-Limit',
  'Sluice-Result',
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
  'Idempotency-Key',
  'Repr-Digest',
  'Tus-Resumable',
  'Upload-Checksum',
  'Upload-Complete',
  'Upload-Concat',
  'Upload-Defer-Length',
  'Upload-Draft-Interop-Version',
  'Upload-Lanes',
  'Upload-Length',
  'Upload-Metadata',
  'Upload-Offset',
  'X-HTTP-Method-Override',
  'X-Request-Id',
  'X-Requested-With',
].join(', ')

export const METHODS = 'POST, PUT, HEAD, PATCH, DELETE, OPTIONS'

/** Headers for every response, including errors. */
export function corsHeaders(origin: string | null): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': origin ?? '*',
    'Access-Control-Expose-Headers': EXPOSED,
    Vary: 'Origin',
  }
}

/**
 * The response to a preflight. Without the Access-Control-Allow headers, the browser does not let the page send its
 * request.
 */
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
