import type { ReactNode } from 'react'
import { HomeLink } from '#components/brand/mark.tsx'
import { ThemeToggle } from '#components/shell/theme-toggle.tsx'

export default function AuthLayout({ children }: { children: ReactNode }) {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-14 items-center justify-between px-4 sm:px-6">
        <HomeLink href="/" />
        <ThemeToggle />
      </header>
      <main id="main" className="mx-auto flex w-full max-w-sm flex-1 flex-col px-4 pt-[9vh] pb-16">
        {children}
      </main>
    </div>
  )
}
