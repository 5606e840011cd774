/**
 * Where to go after signing in: a dashboard page, or the first one by default. Checks the address as a browser would
 * resolve it, since `/dashboard/..//evil.example` starts like ours but leads elsewhere.
 */
export function ownPath(next: string): string {
  const base = 'http://own.invalid'
  const { origin, pathname, search, hash } = URL.parse(next, base) ?? new URL('/', base)
  const ours = origin === base && /^\/dashboard(\/|$)/.test(pathname)
  return ours ? pathname + search + hash : '/dashboard'
}
