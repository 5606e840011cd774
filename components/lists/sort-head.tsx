import { ArrowDown, ArrowUp } from 'lucide-react'
import Link from 'next/link'
import { hrefOf } from '../shell/pager.tsx'
import { Th } from '../ui/table.tsx'

type Props = {
  title: string
  path: string
  query: Record<string, string | undefined>
  /** What the address says for the order from the top down, and for the other one. */
  down: string
  up: string
  /** Of the list when nothing is said. */
  usual?: string
}

/** The head of a column that the list can be sorted by. */
export function SortHead({ title, path, query, down, up, usual }: Props) {
  const order = query.order ?? usual
  const sorted = order === down ? 'descending' : order === up ? 'ascending' : undefined
  const next = order === down ? up : down
  const Arrow = order === up ? ArrowUp : ArrowDown
  return (
    <Th className="text-right" aria-sort={sorted ?? 'none'}>
      <Link
        href={hrefOf(path, { ...query, cursor: undefined, order: next === usual ? undefined : next })}
        scroll={false}
        className="inline-flex items-center gap-1 hover:text-ink"
      >
        {title}
        {sorted && <Arrow className="size-3" aria-hidden />}
      </Link>
    </Th>
  )
}
