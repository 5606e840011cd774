/**
 * Where to go after signing in: a page of the dashboard, or its first one. What counts is the address that a browser
 * makes of it, since `/dashboard/..//evil.example` begins well and leads elsewhere.
 */
export function ownPath(next: string): string {
  const base = 'http://own.invalid'
  const { origin, pathname, search, hash } = URL.parse(next, base) ?? new URL('/', base)
  const ours = origin === base && /^\/dashboard(\/|$)/.test(pathname)
  return ours ? pathname + search + hash : '/dashboard'
}
