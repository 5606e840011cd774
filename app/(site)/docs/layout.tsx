import type { ReactNode } from 'react'
import { DocsNav } from './docs-nav.tsx'
import { DocsSearch } from './docs-search.tsx'
import { type DocPage, GUIDES, PAGES } from './pages.ts'

const linkOf = ({ slug, title }: DocPage) => ({ href: `/docs/${slug}`, title })
const LINKS = [...PAGES.map(linkOf), { href: '/docs/api', title: 'API reference' }]
const GUIDE_LINKS = GUIDES.map(linkOf)

export default function DocsLayout({ children }: { children: ReactNode }) {
  return (
    <div className="mx-auto grid max-w-6xl gap-x-10 px-4 pt-5 sm:px-6 lg:grid-cols-[11rem_minmax(0,1fr)] lg:pt-10">
      <div className="max-lg:min-w-0 lg:sticky lg:top-24 lg:self-start">
        <DocsSearch />
        <DocsNav pages={LINKS} guides={GUIDE_LINKS} />
      </div>
      <main id="main" className="min-w-0 pt-6 lg:pt-0">
        {children}
      </main>
    </div>
  )
}
