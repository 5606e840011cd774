'use client'

import { clsx } from 'clsx'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { NAV_ITEMS } from './nav-items.ts'

export function NavList({ onFollow }: { onFollow?: () => void }) {
  const path = usePathname()
  return (
    <nav aria-label="Dashboard">
      <ul className="space-y-0.5">
        {NAV_ITEMS.map(({ href, title, icon: Icon }) => {
          const here = href === '/dashboard' ? path === href : path.startsWith(href)
          return (
            <li key={href}>
              <Link
                href={href}
                onClick={onFollow}
                aria-current={here ? 'page' : undefined}
                className={clsx(
                  'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm',
                  here
                    ? 'bg-water-soft font-medium text-water'
                    : 'text-ink-soft hover:bg-hover hover:text-ink',
                )}
              >
                <Icon className="size-4" strokeWidth={1.8} aria-hidden />
                {title}
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
