import { CircleAlert, Hourglass, TriangleAlert } from 'lucide-react'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Summary } from '#components/ui/summary.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Attention } from '#lib/dashboard/overview/read-attention.ts'

const LOOKS = {
  bad: { icon: CircleAlert, className: 'text-bad', label: 'Failing' },
  warn: { icon: TriangleAlert, className: 'text-warn', label: 'Warning' },
  decide: { icon: Hourglass, className: 'text-water', label: 'Waiting' },
} as const

/** The others are behind a click, so that the map stays in sight. */
const SHOWN = 4

/** What only a person can settle, each item with the page where they can. */
export function NeedsAttention({ items }: { items: Attention[] }) {
  if (items.length === 0) return null
  const rest = items.slice(SHOWN)
  return (
    <Panel title="Needs attention" flush>
      <Items items={items.slice(0, SHOWN)} />
      {rest.length > 0 && (
        <details className="group border-t">
          <Summary className="px-4 py-2.5 text-ink-soft hover:text-ink">{rest.length} more</Summary>
          <Items items={rest} />
        </details>
      )}
    </Panel>
  )
}

function Items({ items }: { items: Attention[] }) {
  return (
    <ul className="divide-y border-t" aria-label="Needs attention">
      {items.map(({ tone, title, text, at, href, action }) => {
        const { icon: Icon, className, label } = LOOKS[tone]
        return (
          <li key={href + title} className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3 text-sm">
            <Icon className={`mt-0.5 size-4 shrink-0 ${className}`} aria-label={label} />
            <div className="min-w-0 flex-1 basis-52 break-words max-sm:basis-4/5">
              <p className="font-medium">
                {title}
                {at && <Time at={at} className="ml-2 font-normal text-ink-faint text-xs" />}
              </p>
              <p className="text-ink-soft">{text}</p>
            </div>
            <ButtonLink href={href} size="sm" aria-label={`${action}: ${title}`} className="max-sm:ml-8">
              {action}
            </ButtonLink>
          </li>
        )
      })}
    </ul>
  )
}
