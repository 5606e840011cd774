import { ChevronLeft, ChevronRight, ChevronsLeft } from 'lucide-react'
import { ButtonLink } from '../ui/button-link.tsx'

type Props = {
  path: string
  query: Record<string, string | undefined>
  nextCursor: string | null
  /** For lists that can be paged backward; others rely on the browser history. */
  previousCursor?: string | null
}

/** Links for keyset pagination in both directions and back to the start. */
export function Pager({ path, query, nextCursor, previousCursor }: Props) {
  const order = query.order ?? ''
  const [onward, backward, start] =
    WORDS[Object.hasOwn(WORDS, order) ? (order as keyof typeof WORDS) : 'newest']
  if (!nextCursor && !query.cursor) return null
  return (
    <nav aria-label="Pages" className="mt-3 flex justify-end gap-2">
      {query.cursor && (
        <ButtonLink href={hrefOf(path, { ...query, cursor: undefined })} size="sm" icon={ChevronsLeft}>
          {start}
        </ButtonLink>
      )}
      {previousCursor && (
        <ButtonLink href={hrefOf(path, { ...query, cursor: previousCursor })} size="sm" icon={ChevronLeft}>
          {backward}
        </ButtonLink>
      )}
      {nextCursor && (
        <ButtonLink href={hrefOf(path, { ...query, cursor: nextCursor })} size="sm">
          {onward}
          <ChevronRight aria-hidden />
        </ButtonLink>
      )}
    </nav>
  )
}

/** The labels for next, previous and start in each sort order. */
const WORDS = {
  newest: ['Older', 'Newer', 'Newest'],
  oldest: ['Newer', 'Older', 'Oldest'],
  largest: ['Smaller', 'Larger', 'Largest'],
  smallest: ['Larger', 'Smaller', 'Smallest'],
} as const

export function hrefOf(path: string, query: Record<string, string | undefined>): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`
}
