import type { ReactNode } from 'react'
import { brandStyle } from '#components/brand/brand-colors.ts'
import { LinkBrand } from '#components/brand/link-brand.tsx'
import { ThemeToggle } from '#components/shell/theme-toggle.tsx'
import type { LinkPages } from '#lib/upload-links/link-pages.ts'
import { readTexts } from '../../texts.ts'
import { look } from './look-at-link.ts'

type Props = { children: ReactNode; params: Promise<{ code: string }> }

const SLUICE: LinkPages = { name: null, color: null, text: '', logoUrl: null }

/** For people without an account: nothing here leads to the dashboard. */
export default async function LinkLayout({ children, params }: Props) {
  const { theme, privacy } = (await readTexts()).linkPage
  const link = await look((await params).code)
  const { color, text, ...brand } = typeof link === 'string' ? SLUICE : link.pages
  return (
    <div className="flex min-h-dvh flex-col" style={brandStyle(color)}>
      <header className="flex h-14 items-center justify-between gap-4 px-4 sm:px-6">
        <LinkBrand {...brand} />
        <ThemeToggle labels={theme} />
      </header>
      <main id="main" className="mx-auto w-full max-w-xl flex-1 px-4 pt-[6vh] pb-16">
        {children}
      </main>
      <footer className="mx-auto max-w-xl space-y-2 text-balance px-4 py-6 text-center text-ink-faint text-xs">
        {text && (
          <p dir="auto" className="whitespace-pre-line text-ink-soft [overflow-wrap:anywhere]">
            {text}
          </p>
        )}
        <p>{privacy}</p>
      </footer>
    </div>
  )
}
