import { ChevronLeft, ChevronRight } from 'lucide-react'
import { ButtonLink } from '../ui/button-link.tsx'

type Props = { path: string; query: Record<string, string | undefined>; nextCursor: string | null }

/** Forward by keyset; back by the browser's own history, and to the start. */
export function Pager({ path, query, nextCursor }: Props) {
  if (!nextCursor && !query.cursor) return null
  return (
    <nav aria-label="Pages" className="mt-3 flex justify-end gap-2">
      {query.cursor && (
        <ButtonLink href={hrefOf(path, { ...query, cursor: undefined })} size="sm">
          <ChevronLeft aria-hidden />
          Newest
        </ButtonLink>
      )}
      {nextCursor && (
        <ButtonLink href={hrefOf(path, { ...query, cursor: nextCursor })} size="sm">
          Older
          <ChevronRight aria-hidden />
        </ButtonLink>
      )}
    </nav>
  )
}

export function hrefOf(path: string, query: Record<string, string | undefined>): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`
}
