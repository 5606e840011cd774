'use client'

import Link from 'next/link'
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react'
import { ShortcutKey } from '#components/shell/shortcut-key.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { type DocIndex, indexDocs, searchDocs } from './search-docs.ts'

/** Full-text search in the browser: what it looks through loads when the user first goes to the field. */
export function DocsSearch() {
  const [index, setIndex] = useState<DocIndex>()
  const [query, setQuery] = useState('')
  const [open, setOpen] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  const box = useRef<HTMLElement>(null)
  useSearchKeys(field)
  const isOpen = open && index !== undefined && query.trim() !== ''
  const hits = isOpen ? searchDocs(index, query) : []
  async function start() {
    setOpen(true)
    if (index) return
    const response = await fetch('/docs/search.json')
    if (response.ok) setIndex(indexDocs(await response.json()))
  }
  function onKeyDown(event: KeyboardEvent) {
    const links = [...(box.current?.querySelectorAll<HTMLElement>('ul a') ?? [])]
    if (event.key === 'Enter' && event.target === field.current) links[0]?.click()
    if (event.key === 'Escape') {
      setQuery('')
      field.current?.focus()
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const stops = [field.current!, ...links]
    const at = stops.indexOf(event.target as HTMLElement)
    stops[(at + step + stops.length) % stops.length]!.focus()
  }
  return (
    <search
      ref={box}
      className="relative block flex-1 lg:mb-4"
      onKeyDown={onKeyDown}
      onBlur={({ relatedTarget }) => box.current?.contains(relatedTarget) || setOpen(false)}
    >
      <input
        ref={field}
        type="search"
        aria-label="Search the documentation"
        aria-keyshortcuts="/ Meta+K Control+K"
        placeholder="Search"
        value={query}
        onFocus={start}
        onChange={(event) => {
          setQuery(event.target.value)
          void start()
        }}
        className="peer h-8 w-full rounded-md border border-line-strong bg-raised px-2.5 text-sm shadow-raised"
      />
      <kbd className="pointer-events-none absolute top-1.5 right-2 rounded-sm border px-1 font-sans text-[0.6875rem] text-ink-faint peer-focus:hidden peer-not-placeholder-shown:hidden max-lg:hidden">
        <ShortcutKey />
      </kbd>
      <p role="status" className="sr-only">
        {isOpen && `${hits.length} found`}
      </p>
      {isOpen && <Results query={query} hits={hits} onOpen={() => setQuery('')} />}
    </search>
  )
}

type ResultsProps = { query: string; hits: ReturnType<typeof searchDocs>; onOpen(): void }

function Results({ query, hits, onOpen }: ResultsProps) {
  return (
    <ul
      aria-label="Search results"
      className="absolute top-full left-0 z-30 mt-1 max-h-[calc(100dvh-12rem)] w-[min(26rem,calc(100vw-2rem))] divide-y overflow-y-auto rounded-lg border bg-raised shadow-float"
    >
      {hits.length === 0 && (
        <li className="px-3.5 py-3 text-ink-soft text-sm">
          Nothing has “{query.trim()}”. Try another word for it, or look through the{' '}
          <TextLink href="/docs/api">operations</TextLink>, <TextLink href="/docs/errors">errors</TextLink>{' '}
          and <TextLink href="/docs/self-hosting#settings">settings</TextLink>.
        </li>
      )}
      {hits.map(({ href, page, heading, excerpt }) => (
        <li key={href}>
          <Link
            href={href}
            prefetch={false}
            onClick={onOpen}
            className="block px-3.5 py-2 text-sm -outline-offset-2 hover:bg-hover focus:bg-hover"
          >
            <span className="block break-words font-medium">{heading}</span>
            {heading !== page && <span className="block text-ink-faint text-xs">{page}</span>}
            <span className="block break-words text-ink-soft text-xs">{excerpt}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

/** `/`, ⌘K and Ctrl K lead to the field. */
function useSearchKeys(field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select')
      const isKey = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)
      if (!isKey && (event.key !== '/' || isTyping)) return
      event.preventDefault()
      field.current?.select()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [field])
}
