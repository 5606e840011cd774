'use client'

import { clsx } from 'clsx'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useCurrentInSight } from '#components/shell/use-current-in-sight.ts'

type Links = readonly { href: string; title: string }[]

export function DocsNav({ pages, guides }: { pages: Links; guides: Links }) {
  const row = useCurrentInSight<HTMLElement>(usePathname())
  return (
    <nav
      ref={row}
      aria-label="Documentation pages"
      className="flex gap-1 overflow-x-auto pb-2 [scrollbar-width:none] lg:block lg:pb-0"
    >
      <LinkList links={pages} />
      <h2 className="mt-5 mb-1 px-2.5 font-medium text-ink-faint text-xs max-lg:sr-only">Guides</h2>
      <LinkList links={guides} />
    </nav>
  )
}

function LinkList({ links }: { links: Links }) {
  const path = usePathname()
  return (
    <ul className="flex gap-1 lg:flex-col lg:gap-0.5">
      {links.map(({ href, title }) => {
        const here = path === href || (path === '/docs' && href === '/docs/quickstart')
        return (
          <li key={href}>
            <Link
              href={href}
              aria-current={here ? 'page' : undefined}
              className={clsx(
                'block whitespace-nowrap rounded-md lg:whitespace-normal px-2.5 py-1.5 text-sm',
                here ? 'bg-water-soft font-medium text-water' : 'text-ink-soft hover:bg-hover hover:text-ink',
              )}
            >
              {title}
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
