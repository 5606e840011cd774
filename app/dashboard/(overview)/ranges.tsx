import { clsx } from 'clsx'
import Link from 'next/link'
import { hrefOf } from '#components/shell/pager.tsx'
import type { Range } from '#lib/dashboard/overview/read-figures.ts'

export const RANGE_NAMES: Record<Range, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
}

/** The ranges in minutes, as the list filters accept them. */
export const RANGE_MINUTES: Record<Range, string> = {
  '24h': '1440',
  '7d': '10080',
  '30d': '43200',
  '90d': '129600',
}

export function rangeOf(text: string | undefined): Range {
  return text !== undefined && Object.hasOwn(RANGE_NAMES, text) ? (text as Range) : '24h'
}

export type RangeProps = { range: Range; path: string; query?: { pipeId: string | undefined } }

/** These are links, so that each view has an address and works without JavaScript. */
export function RangePicker({ range, path, query }: RangeProps) {
  return (
    <nav aria-label="Time range">
      <ul className="flex rounded-md border border-line-strong bg-raised p-px shadow-raised">
        {Object.entries(RANGE_NAMES).map(([value, name]) => (
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
