import { clsx } from 'clsx'
import Link from 'next/link'
import type { ComponentProps, ReactElement, ReactNode } from 'react'
import { Pending } from '../shell/pending.tsx'

type Look<Item> = {
  /** Numbers, right-aligned. */
  number?: boolean
  /** For text of any length: these columns share the remaining width and truncate what does not fit. */
  long?: boolean
  /** Gets twice the width of other long columns. */
  lead?: boolean
  /** Left out where the table is too narrow for all columns. On phones, it is shown again if rows become cards. */
  spare?: boolean
  /** On phones, its cells have no label. */
  unnamed?: boolean
  className?: string
  /** The full text of a truncated cell. */
  hint?: (item: Item) => string | undefined
  /** Replaces the column title. */
  head?: ReactElement
}

export type Column<Item> = [title: string, cell: (item: Item) => ReactNode, look?: Look<Item>]

/** The column that identifies a row. */
export const NAME = { long: true, lead: true, unnamed: true, className: 'font-medium' }
export const SOFT = { className: 'text-ink-soft' }
export const LONG = { long: true, ...SOFT }
export const NUMBER = { number: true }
export const SOFT_NUMBER = { ...NUMBER, ...SOFT }
/** The column with a row's actions. */
export const ACTIONS = {
  unnamed: true,
  className: 'text-right @max-[44rem]:-ml-2.5',
  head: (
    <Th>
      <span className="sr-only">Actions</span>
    </Th>
  ),
}

type Keyed<Item> = Item extends { id: string }
  ? { rowKey?: undefined }
  : {
      /** For items without an id. */
      rowKey: (item: Item) => string
    }

type Props<Item> = {
  caption: string
  rows: Item[]
  columns: Column<Item>[]
  /** On phones, the values go without labels into one line below the name. Rows that can be selected always do. */
  terse?: boolean
}

const idOf = (item: unknown) => (item as { id: string }).id

/** More columns than these do not fit on a phone. */
const FIT = 3

/** Compact rows; on a phone, each row becomes a card whose cells are labeled with their column titles. */
export function Table<Item>({ caption, rows, rowKey = idOf, columns, terse }: Props<Item> & Keyed<Item>) {
  const stacks = terse === true || columns.length > FIT
  return (
    <div className="@container relative overflow-hidden rounded-lg border border-line bg-surface">
      <table className={clsx('w-full border-collapse text-sm', stacks && 'stack-table', terse && 'terse')}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b bg-canvas text-left text-ink-faint text-xs">
            {columns.map(([title, , look]) => (
              <Head key={title} title={title} look={look} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((item) => (
            <tr
              key={rowKey(item)}
              className="group/row relative border-b transition-colors last:border-b-0 hover:bg-hover/60"
            >
              {columns.map((column) => (
                <Cell key={column[0]} item={item} column={column} stacks={stacks} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const SPARE = 'spare @min-[44rem]:@max-4xl:hidden'

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return <th scope="col" className={clsx('h-8 whitespace-nowrap px-3 font-medium', className)} {...rest} />
}

function Head<Item>({ title, look }: { title: string; look: Look<Item> | undefined }) {
  return look?.head ?? <Th className={clsx(look?.number && 'text-right', look?.spare && SPARE)}>{title}</Th>
}

type CellProps<Item> = { item: Item; column: Column<Item>; stacks: boolean }

function Cell<Item>({ item, column: [title, cell, look = {}], stacks }: CellProps<Item>) {
  return (
    <td
      data-label={look.unnamed ? undefined : title}
      title={look.hint?.(item)}
      className={clsx(
        'h-10 truncate px-3 align-middle',
        look.long ? clsx('max-w-0', look.lead ? 'w-1/2' : 'w-1/4') : 'max-w-72',
        look.spare && SPARE,
        look.number && clsx('tnum', stacks ? '@min-[44rem]:text-right' : 'text-right'),
        look.className,
      )}
    >
      <span
        className={clsx(
          'contents',
          stacks && '@max-[44rem]:block @max-[44rem]:min-w-0 @max-[44rem]:truncate',
        )}
      >
        {cell(item)}
      </span>
    </td>
  )
}

/** Makes the entire row a link. */
export function RowLink({ children, ...rest }: ComponentProps<typeof Link>) {
  return (
    <Link className="row-link" {...rest}>
      {children}
      <Pending />
    </Link>
  )
}
