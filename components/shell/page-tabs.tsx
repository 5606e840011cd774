'use client'

import { clsx } from 'clsx'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useCurrentInSight } from './use-current-in-sight.ts'

type Props = { label: string; tabs: { href: string; title: string }[] }

/** Tabs that are pages, each with its own address. */
export function PageTabs({ label, tabs }: Props) {
  const path = usePathname()
  const row = useCurrentInSight<HTMLUListElement>(path)
  return (
    <nav aria-label={label} className="mb-6 border-b">
      <ul ref={row} className="-mb-px flex gap-4 overflow-x-auto [scrollbar-width:none]">
        {tabs.map(({ href, title }) => (
          <li key={href}>
            <Link
              href={href}
              aria-current={path === href ? 'page' : undefined}
              className={clsx(
                'block whitespace-nowrap border-b-2 py-2 text-sm -outline-offset-2',
                path === href
                  ? 'border-water font-medium text-ink'
                  : 'border-transparent text-ink-soft hover:text-ink',
              )}
            >
              {title}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
