import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '../../lib/platform/settings/config.ts'

const ONE_YEAR = 'max-age=31536000'

/** Sets the headers that every response has. */
export function setSecurityHeaders(res: ServerResponse, secure: boolean): void {
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader('Referrer-Policy', 'strict-origin-when-cross-origin')
  res.setHeader('X-Frame-Options', 'DENY')
  res.setHeader('Permissions-Policy', 'camera=(), microphone=(), geolocation=()')
  if (secure) res.setHeader('Strict-Transport-Security', ONE_YEAR)
}

/** Not for other hosts than this server's: what is below them belongs to others, who may not use HTTPS there. */
export function secureSubdomains(res: ServerResponse): void {
  res.setHeader('Strict-Transport-Security', `${ONE_YEAR}; includeSubDomains`)
}

/** Keeps an upload link's address from other sites and search engines, because anyone who knows it can use the link. */
export function keepAddressSecret(res: ServerResponse): void {
  res.setHeader('Referrer-Policy', 'no-referrer')
  res.setHeader('X-Robots-Tag', 'noindex, nofollow')
}

/** Next reads the nonce from the request's policy and adds it to its scripts. */
export function setPolicy(
  req: IncomingMessage,
  res: ServerResponse,
  { uploadUrl }: Pick<Config, 'uploadUrl'>,
  dev: boolean,
): void {
  const isLogo = req.url!.startsWith('/u/logo/')
  const policy = isLogo
    ? IMAGE_POLICY
    : contentSecurityPolicy(randomBytes(16).toString('base64'), uploadUrl, dev)
  req.headers['content-security-policy'] = policy
  res.setHeader('Content-Security-Policy', policy)
}

/** A workspace's logo is only an image, even if it is opened by itself. */
const IMAGE_POLICY = "default-src 'none'; sandbox"

/**
 * The Content-Security-Policy for pages. It allows only scripts with the nonce, and connections only to this server and
 * the upload address.
 */
function contentSecurityPolicy(nonce: string, uploadUrl: string, dev: boolean): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${dev ? " 'unsafe-eval'" : ''}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ${new URL(uploadUrl).origin}${dev ? ' ws:' : ''}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}
