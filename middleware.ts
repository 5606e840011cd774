import { type NextRequest, NextResponse } from 'next/server'
import { SESSION_COOKIES } from './lib/identity/sessions/session-cookie.ts'

/**
 * Redirects dashboard visitors without a session cookie to sign-in, and nothing else: every page and action checks the
 * session itself. It must never match a route that accepts a body, because Next.js truncates bodies that pass through
 * middleware.
 */
export function middleware(request: NextRequest) {
  const signedIn = SESSION_COOKIES.some((name) => request.cookies.has(name))
  if (signedIn) return NextResponse.next()
  const login = new URL('/login', request.url)
  login.searchParams.set('next', request.nextUrl.pathname + request.nextUrl.search)
  return NextResponse.redirect(login)
}

export const config = { matcher: ['/dashboard/:path*'] }
