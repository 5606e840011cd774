import { Check, X } from 'lucide-react'
import type { WholeDelivery } from '#lib/webhooks/log/delivery.ts'
import { formatDuration } from '../format.ts'
import { Chevron } from '../ui/chevron.tsx'
import { REACHABLE } from '../ui/reachable.ts'
import { Time } from '../ui/time.tsx'

type Attempt = WholeDelivery['attempts'][number]

/** One attempt, with all that was said on both sides. */
export function AttemptView({ attempt, startOpen }: { attempt: Attempt; startOpen: boolean }) {
  const good = attempt.error === null
  const Icon = good ? Check : X
  return (
    <li>
      <details open={startOpen} className="group rounded-md border">
        <summary className="flex flex-wrap items-center gap-x-2.5 gap-y-1 px-3 py-2 text-sm [&::-webkit-details-marker]:hidden">
          <Chevron />
          <Icon className={`size-4 ${good ? 'text-good' : 'text-bad'}`} aria-hidden />
          <span className="font-medium">{attempt.status ?? attempt.error}</span>
          <span className="text-ink-faint">
            <Time at={attempt.at} />
            {attempt.durationMs !== null && `, ${formatDuration(attempt.durationMs)}`}
            {attempt.trigger !== 'auto' && `, ${attempt.trigger}`}
          </span>
        </summary>
        <div className="space-y-3 border-t px-3 py-3">
          {attempt.errorDetail && <p className="text-bad text-sm">{attempt.errorDetail}</p>}
          <Headers title="Request headers" headers={attempt.requestHeaders} />
          {attempt.responseHeaders && <Headers title="Response headers" headers={attempt.responseHeaders} />}
          {attempt.responseBody !== null && (
            <div>
              <h4 className="mb-1 text-ink-faint text-xs">Response body</h4>
              <pre
                {...REACHABLE}
                className="max-h-56 overflow-auto whitespace-pre-wrap break-all rounded-sm bg-sunken p-2 font-mono text-xs"
              >
                {attempt.responseBody || '(empty)'}
              </pre>
            </div>
          )}
        </div>
      </details>
    </li>
  )
}

function Headers({ title, headers }: { title: string; headers: Record<string, string> }) {
  return (
    <div>
      <h4 className="mb-1 text-ink-faint text-xs">{title}</h4>
      <dl className="space-y-0.5 font-mono text-xs">
        {Object.entries(headers).map(([name, value]) => (
          <div key={name} className="flex flex-wrap gap-x-2">
            <dt className="text-ink-faint">{name}:</dt>
            <dd className="min-w-0 break-all">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
