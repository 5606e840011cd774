import { clsx } from 'clsx'
import Link from 'next/link'
import type { Range } from '#lib/dashboard/overview/read-figures.ts'
import { hrefOf } from '../shell/pager.tsx'
import { RANGE_NAMES } from './ranges.ts'

/** Links, so that each view has an address and works without a script. */
export function RangePicker({ range, pipeId }: { range: Range; pipeId: string | undefined }) {
  return (
    <nav aria-label="Time range">
      <ul className="flex rounded-md border border-line-strong bg-raised p-px shadow-raised">
        {Object.entries(RANGE_NAMES).map(([value, name]) => (
          <li key={value}>
            <Link
              href={hrefOf('/dashboard', { range: value === '24h' ? undefined : value, pipeId })}
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
