import { ArrowDown, ArrowUp } from 'lucide-react'
import Link from 'next/link'
import { hrefOf } from '../shell/pager.tsx'
import { type Column, SOFT_NUMBER, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { SelectAll, SelectRow } from './selection.tsx'

type Props = {
  title: string
  path: string
  query: Record<string, string | undefined>
  /** The `order` parameter's values for descending and ascending. */
  down: string
  up: string
  /** The list's default order. */
  usual?: string
}

/** A column header that sorts the list. */
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

/** The creation time, by which lists are sorted by default. */
export function createdColumn(list: Pick<Props, 'path' | 'query'>): Column<{ createdAt: string }> {
  const head = <SortHead title="Created" {...list} down="newest" up="oldest" usual="newest" />
  return ['Created', ({ createdAt }) => <Time at={createdAt} />, { ...SOFT_NUMBER, head }]
}

/** A checkbox for each row, and one for all rows. */
export function selectColumn<Item extends { id: string }>(nameOf: (item: Item) => string): Column<Item> {
  const head = (
    <Th className="w-8 pr-0">
      <SelectAll />
    </Th>
  )
  const cell = (item: Item) => <SelectRow id={item.id} name={nameOf(item)} />
  return ['Select', cell, { unnamed: true, className: 'select-cell pr-0', head }]
}
