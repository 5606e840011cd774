'use client'

import { clsx } from 'clsx'
import Link from 'next/link'
import { usePathname } from 'next/navigation'

type Props = { pages: readonly { href: string; title: string }[] }

export function DocsNav({ pages }: Props) {
  const path = usePathname()
  return (
    <nav aria-label="Documentation">
      <ul className="flex gap-1 overflow-x-auto pb-2 [scrollbar-width:none] lg:flex-col lg:gap-0.5 lg:pb-0">
        {pages.map(({ href, title }) => {
          const here = path === href || (path === '/docs' && href === '/docs/quickstart')
          return (
            <li key={href}>
              <Link
                href={href}
                aria-current={here ? 'page' : undefined}
                className={clsx(
                  'block whitespace-nowrap rounded-md px-2.5 py-1.5 text-sm',
                  here
                    ? 'bg-water-soft font-medium text-water'
                    : 'text-ink-soft hover:bg-hover hover:text-ink',
                )}
              >
                {title}
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
