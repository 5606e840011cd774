'use client'

import { clsx } from 'clsx'
import { Menu } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useCurrentInSight } from '#components/shell/use-current-in-sight.ts'
import { Button } from '#components/ui/button.tsx'

type Group = { title: string; links: { href: string; title: string }[] }

/**
 * Beside the text, or a popover where there is no room, which opens without JavaScript too. The groups of operations
 * are listed once the reader is among them.
 */
export function DocsNav({ groups, api }: { groups: Group[]; api: Group }) {
  const path = usePathname()
  const isApi = path.startsWith('/docs/api')
  const list = useCurrentInSight<HTMLElement>(path)
  return (
    <>
      <Button popoverTarget="docs-pages" icon={Menu} className="lg:hidden">
        Pages
      </Button>
      <nav
        ref={list}
        id="docs-pages"
        popover="auto"
        aria-label="Documentation pages"
        className="inset-x-4 top-28 bottom-4 m-0 h-auto w-auto overflow-y-auto rounded-lg border bg-raised p-3 text-ink shadow-float lg:static lg:block lg:max-h-[calc(100dvh-11rem)] lg:border-none lg:bg-transparent lg:p-0 lg:shadow-none"
      >
        {[...groups, isApi ? api : { ...api, links: api.links.slice(0, 1) }].map(({ title, links }) => (
          <section key={title} aria-labelledby={`docs-${title}`} className="mb-4">
            <h2 id={`docs-${title}`} className="mb-1 px-2.5 font-medium text-ink-faint text-xs">
              {title}
            </h2>
            <ul className="max-lg:columns-2 lg:space-y-0.5">
              {links.map(({ href, title }) => {
                const here = path === href || (path === '/docs' && href === '/docs/quickstart')
                return (
                  <li key={href}>
                    <Link
                      href={href}
                      prefetch={false}
                      onClick={() => list.current?.hidePopover()}
                      aria-current={here ? 'page' : undefined}
                      className={clsx(
                        'block rounded-md px-2.5 py-1.5 text-sm -outline-offset-2',
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
          </section>
        ))}
      </nav>
    </>
  )
}
