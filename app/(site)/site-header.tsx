import { cookies } from 'next/headers'
import Link from 'next/link'
import { HomeLink } from '#components/brand/mark.tsx'
import { ThemeToggle } from '#components/shell/theme-toggle.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { SESSION_COOKIES } from '#lib/identity/sessions/session-cookie.ts'
import { SignUpLink } from './sign-up-link.tsx'

export async function SiteHeader() {
  const jar = await cookies()
  const signedIn = SESSION_COOKIES.some((name) => jar.has(name))
  return (
    <header className="sticky top-0 z-30 border-b bg-canvas/90 backdrop-blur-md">
      <div className="mx-auto flex h-14 max-w-6xl items-center gap-1 px-4 sm:gap-2 sm:px-6">
        <HomeLink href="/" className="mr-auto sm:mr-5" />
        <nav aria-label="Site" className="hidden items-center gap-1 sm:mr-auto sm:flex">
          <HeaderLink href="/docs">Docs</HeaderLink>
          <HeaderLink href="/docs/api">API</HeaderLink>
          <HeaderLink href="/docs/pricing">Pricing</HeaderLink>
        </nav>
        <ThemeToggle />
        {signedIn ? (
          <ButtonLink href="/dashboard" tone="primary">
            Dashboard
          </ButtonLink>
        ) : (
          <>
            <ButtonLink href="/login" tone="quiet">
              Sign in
            </ButtonLink>
            <SignUpLink>Start free</SignUpLink>
          </>
        )}
      </div>
    </header>
  )
}

function HeaderLink({ href, children }: { href: string; children: string }) {
  return (
    <Link
      href={href}
      prefetch={false}
      className="rounded-md px-2.5 py-1.5 text-ink-soft text-sm hover:bg-hover hover:text-ink"
    >
      {children}
    </Link>
  )
}
