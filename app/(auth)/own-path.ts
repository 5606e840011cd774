/**
 * The path to open after sign-in: the requested dashboard page, or the overview by default. Resolves the address as a
 * browser would, because `/dashboard/..//evil.example` starts like a dashboard path but leads elsewhere.
 */
export function ownPath(next: string): string {
  const base = 'http://own.invalid'
  const { origin, pathname, search, hash } = URL.parse(next, base) ?? new URL('/', base)
  const ours = origin === base && /^\/dashboard(\/|$)/.test(pathname)
  return ours ? pathname + search + hash : '/dashboard'
}
