import { BookOpen, type LucideIcon } from 'lucide-react'
import { useEffect, useState } from 'react'

const SHOWN = 4
/** With fewer characters, nearly every section is found. */
const LEAST_CHARACTERS = 3

let searching: Promise<(query: string) => { href: string; title: string }[]> | undefined

/** Loads the search of the documentation, and what it looks through, when it is first used. */
async function loadSearch() {
  const [{ indexDocs, searchDocs }, response] = await Promise.all([
    import('#app/(site)/docs/search-docs.ts'),
    fetch('/docs/search.json'),
  ])
  const index = indexDocs(await response.json())
  return (query: string) =>
    searchDocs(index, query).map(({ href, page, heading }) => ({
      href,
      title: page === heading ? page : `${page}: ${heading}`,
    }))
}

/** Sections of the documentation that answer the query. */
export function useDocs(query: string): { href: string; title: string; icon: LucideIcon }[] {
  const [found, setFound] = useState<{ href: string; title: string }[]>([])
  useEffect(() => {
    if (query.trim().length < LEAST_CHARACTERS) return setFound([])
    let stale = false
    searching ??= loadSearch()
    searching.then(
      (search) => stale || setFound(search(query).slice(0, SHOWN)),
      () => {
        searching = undefined
      },
    )
    return () => {
      stale = true
    }
  }, [query])
  return found.map((hit) => ({ ...hit, icon: BookOpen }))
}
