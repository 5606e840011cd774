import { Plus } from 'lucide-react'
import Link from 'next/link'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Status } from '#components/ui/status.tsx'
import { Time } from '#components/ui/time.tsx'
import type { OutputWithLatest } from '#lib/webhooks/log/list-deliveries.ts'
import { shownState } from '../shown-state.ts'
import { SendTest } from './send-test.tsx'

/** Outputs with their latest outcomes. Everything else about an output is on its own page. */
export function OutputList({ outputs, label }: { outputs: OutputWithLatest[]; label: string }) {
  if (outputs.length === 0) return null
  return (
    <ul aria-label={label} className="divide-y rounded-lg border bg-surface">
      {outputs.map(({ output, latest }) => (
        <li key={output.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3">
          <div className="min-w-0 flex-1 basis-56">
            <Link
              href={`/dashboard/webhooks/outputs/${output.id}`}
              className="font-medium text-sm hover:underline"
            >
              {output.name}
            </Link>
            <p className="truncate text-ink-faint text-xs" title={output.url}>
              {new URL(output.url).host}
              {output.events.some((kind) => kind !== 'file.status_changed') &&
                `, ${output.events.join(', ')}`}
            </p>
          </div>
          <Status state={output.enabled ? (output.failingSince ? 'failing' : 'on') : 'off'} />
          <div className="flex items-center gap-3 text-ink-faint text-xs">
            {latest[0] ? (
              <>
                <Status state={shownState(latest[0])} />
                <Time at={latest[0].createdAt} />
              </>
            ) : (
              'Nothing sent yet'
            )}
          </div>
          <SendTest outputId={output.id} name={output.name} />
        </li>
      ))}
    </ul>
  )
}

export function AddOutput({ pipeId, full }: { pipeId: string | null; full: boolean }) {
  if (full) return <p className="text-ink-faint text-sm">You have reached the limit of five outputs.</p>
  const query = pipeId ? `?pipeId=${pipeId}` : ''
  return (
    <IfMay right="build">
      <ButtonLink href={`/dashboard/webhooks/outputs/new${query}`} icon={Plus}>
        Add an output
      </ButtonLink>
    </IfMay>
  )
}
