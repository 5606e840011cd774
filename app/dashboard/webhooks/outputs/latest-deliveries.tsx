import Link from 'next/link'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Delivery } from '#lib/webhooks/log/delivery.ts'
import { shownState } from '../shown-state.ts'

/** An output's latest events and their outcomes. */
export function LatestDeliveries({ outputId, latest }: { outputId: string; latest: Delivery[] }) {
  return (
    <div className="border-t pt-4">
      <p className="mb-1.5 flex items-baseline justify-between gap-3 font-medium text-sm">
        Latest events
        {latest.length > 0 && (
          <TextLink href={`/dashboard/webhooks?outputId=${outputId}`} className="font-normal">
            Full log
          </TextLink>
        )}
      </p>
      {latest.length === 0 ? (
        <p className="text-ink-faint text-sm">Nothing has been sent to this output yet.</p>
      ) : (
        <ul className="divide-y rounded-md border">
          {latest.map((delivery) => (
            <li key={delivery.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 text-sm">
              <Status state={shownState(delivery)} />
              <Link
                href={`/dashboard/webhooks?delivery=${delivery.id}`}
                className="min-w-0 truncate font-mono text-xs hover:underline"
              >
                {delivery.event}
              </Link>
              <span className="text-ink-faint text-xs">{answerOf(delivery)}</span>
              <Time at={delivery.createdAt} className="ml-auto text-ink-faint text-xs" />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function answerOf({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  return last ? String(last.status ?? last.error) : ''
}
