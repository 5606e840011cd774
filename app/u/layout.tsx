import type { ReactNode } from 'react'
import { Wordmark } from '#components/brand/mark.tsx'
import { ThemeToggle } from '#components/shell/theme-toggle.tsx'
import { readTexts } from '../texts.ts'

/** For people without an account: nothing here leads to the dashboard. */
export default async function LinkLayout({ children }: { children: ReactNode }) {
  const { theme, privacy } = (await readTexts()).linkPage
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-14 items-center justify-between px-4 sm:px-6">
        <Wordmark />
        <ThemeToggle labels={theme} />
      </header>
      <main id="main" className="mx-auto w-full max-w-xl flex-1 px-4 pt-[6vh] pb-16">
        {children}
      </main>
      <footer className="px-4 py-6 text-center text-ink-faint text-xs">{privacy}</footer>
    </div>
  )
}
