import { clsx } from 'clsx'
import Link from 'next/link'
import { hrefOf } from '#components/shell/pager.tsx'
import type { Range } from '#lib/dashboard/overview/read-figures.ts'

/** `minutes` as the list filters accept them; `tickEvery`, the number of slots from one label below a chart to the next. */
export const RANGES: Record<Range, { name: string; minutes: string; tickEvery: number }> = {
  '24h': { name: '24 hours', minutes: '1440', tickEvery: 6 },
  '7d': { name: '7 days', minutes: '10080', tickEvery: 4 },
  '30d': { name: '30 days', minutes: '43200', tickEvery: 7 },
  '90d': { name: '90 days', minutes: '129600', tickEvery: 15 },
}

export function rangeOf(text: string | undefined): Range {
  return text !== undefined && Object.hasOwn(RANGES, text) ? (text as Range) : '24h'
}

export type RangeProps = { range: Range; path: string; query?: { pipeId: string | undefined } }

/** These are links, so that each view has an address and works without JavaScript. */
export function RangePicker({ range, path, query }: RangeProps) {
  return (
    <nav aria-label="Time range">
      <ul className="flex rounded-md border border-line-strong bg-raised p-px shadow-raised">
        {Object.entries(RANGES).map(([value, { name }]) => (
          <li key={value}>
            <Link
              href={hrefOf(path, { ...query, range: value === '24h' ? undefined : value })}
              scroll={false}
              aria-current={value === range ? 'true' : undefined}
              className={clsx(
                'block whitespace-nowrap rounded-[5px] px-2.5 py-1 text-sm',
                value === range ? 'bg-hover font-medium' : 'text-ink-soft hover:text-ink',
              )}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
