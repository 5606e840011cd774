'use client'

import Link from 'next/link'
import { useState } from 'react'
import { type DocSection, searchDocs } from './search-docs.ts'

/** Full-text search in the browser: the index loads when the user starts typing. */
export function DocsSearch() {
  const [sections, setSections] = useState<DocSection[]>()
  const [query, setQuery] = useState('')
  const hits = searchDocs(sections ?? [], query)
  async function load() {
    if (sections) return
    const answer = await fetch('/docs/search.json')
    if (answer.ok) setSections(await answer.json())
  }
  return (
    <search className="relative mb-3 block">
      <input
        type="search"
        aria-label="Search the documentation"
        placeholder="Search"
        value={query}
        onFocus={load}
        onChange={(event) => setQuery(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && setQuery('')}
        className="h-8 w-full rounded-md border border-line-strong bg-raised px-2.5 text-sm shadow-raised"
      />
      <p role="status" className="sr-only">
        {query && sections && `${hits.length} found`}
      </p>
      {query.trim() && sections && (
        <ul
          aria-label="Search results"
          className="absolute top-full left-0 z-30 mt-1 w-[min(26rem,calc(100vw-2rem))] divide-y overflow-hidden rounded-lg border bg-raised shadow-float"
        >
          {hits.length === 0 && (
            <li className="px-3.5 py-3 text-ink-faint text-sm">No page contains these words.</li>
          )}
          {hits.map(({ href, page, heading, excerpt }) => (
            <li key={href}>
              <Link
                href={href}
                onClick={() => setQuery('')}
                className="block px-3.5 py-2 text-sm -outline-offset-2 hover:bg-hover"
              >
                <span className="block break-words font-medium">{heading}</span>
                {heading !== page && <span className="block text-ink-faint text-xs">{page}</span>}
                <span className="block break-words text-ink-soft text-xs">{excerpt}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </search>
  )
}
