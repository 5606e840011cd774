import { BookOpen } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { HomeLink } from '#components/brand/mark.tsx'
import { NavList } from './nav-list.tsx'
import { PaletteButton } from './palette.tsx'

/** The sidebar on wide screens. */
export function Sidebar({ meter, account }: { meter: ReactNode; account: ReactNode }) {
  return (
    <header className="sticky top-0 hidden h-dvh w-56 shrink-0 flex-col border-r bg-canvas lg:flex">
      <div className="flex h-14 items-center px-4">
        <HomeLink href="/dashboard" />
      </div>
      <div className="px-3 pb-3">
        <PaletteButton look="field" />
      </div>
      <div className="flex-1 overflow-y-auto px-3">
        <NavList />
      </div>
      <div className="space-y-3 px-3 pb-3">
        {meter}
        <Link
          href="/docs"
          prefetch={false}
          className="flex h-8 items-center gap-2.5 rounded-md px-2.5 text-ink-soft text-sm hover:bg-hover hover:text-ink"
        >
          <BookOpen className="size-4" strokeWidth={1.8} aria-hidden />
          Documentation
        </Link>
        <div className="border-t pt-3">{account}</div>
      </div>
    </header>
  )
}
