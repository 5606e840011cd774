import type { ReactNode } from 'react'
import { API_GROUPS } from './api/groups.ts'
import { DocsNav } from './docs-nav.tsx'
import { DocsSearch } from './docs-search.tsx'
import { GROUPS } from './pages.ts'

const GUIDED = GROUPS.map(({ title, pages }) => ({
  title,
  links: pages.map((page) => ({ href: `/docs/${page.slug}`, title: page.title })),
}))
const API = {
  title: 'API reference',
  links: [
    { href: '/docs/api', title: 'All operations' },
    ...API_GROUPS.map(({ href, title }) => ({ href, title })),
  ],
}

export default function DocsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="mx-auto grid max-w-6xl gap-x-10 px-4 pt-5 sm:px-6 lg:grid-cols-[11rem_minmax(0,1fr)] lg:pt-10">
      <div className="flex items-center gap-2 lg:sticky lg:top-24 lg:z-20 lg:block lg:self-start">
        <DocsSearch />
        <DocsNav groups={GUIDED} api={API} />
      </div>
      <main id="main" className="min-w-0 pt-6 lg:pt-0">
        {children}
      </main>
    </div>
  )
}
