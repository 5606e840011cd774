'use client'

import { clsx } from 'clsx'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import type { ReactNode } from 'react'
import { Pending } from './pending.tsx'
import { useCurrentInSight } from './use-current-in-sight.ts'

type Section = { href: string; title: string }
type Props = {
  label: string
  /** The first section of a tab that has some is the tab's own page. */
  tabs: (Section & { sections?: Section[] })[]
  children?: ReactNode
}

/** Tabs that are pages, each with its own address. The sections of a tab are listed beside their pages. */
export function PageTabs({ label, tabs, children }: Props) {
  const path = usePathname()
  const current = tabs.find(({ href, sections = [] }) =>
    [href, ...sections.map((section) => section.href)].includes(path),
  )
  const row = useCurrentInSight<HTMLUListElement>(path)
  return (
    <>
      <nav aria-label={label} className="mb-6 border-b">
        <ul ref={row} className="-mb-px flex gap-4 overflow-x-auto [scrollbar-width:none]">
          {tabs.map((tab) => (
            <li key={tab.href}>
              <Link
                href={tab.href}
                aria-current={path === tab.href ? 'page' : tab === current ? 'true' : undefined}
                className={clsx(
                  'block whitespace-nowrap border-b-2 py-2 text-sm -outline-offset-2',
                  tab === current
                    ? 'border-water font-medium text-ink'
                    : 'border-transparent text-ink-soft hover:text-ink',
                )}
              >
                {tab.title}
                <Pending />
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      {current?.sections ? (
        <div className="grid grid-cols-1 items-start gap-x-8 gap-y-5 lg:grid-cols-[8.5rem_1fr]">
          <Sections label={`${label}, ${current.title}`} sections={current.sections} path={path} />
          <div className="min-w-0">{children}</div>
        </div>
      ) : (
        children
      )}
    </>
  )
}

function Sections({ label, sections, path }: { label: string; sections: Section[]; path: string }) {
  const row = useCurrentInSight<HTMLUListElement>(path)
  return (
    <nav aria-label={label} className="min-w-0">
      <ul ref={row} className="flex gap-0.5 overflow-x-auto [scrollbar-width:none] lg:-ml-2.5 lg:flex-col">
        {sections.map(({ href, title }) => (
          <li key={href}>
            <Link
              href={href}
              aria-current={path === href ? 'page' : undefined}
              className={clsx(
                'block whitespace-nowrap rounded-md px-2.5 py-1.5 text-sm -outline-offset-2',
                path === href
                  ? 'bg-water-soft font-medium text-water'
                  : 'text-ink-soft hover:bg-hover hover:text-ink',
              )}
            >
              {title}
              <Pending />
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
