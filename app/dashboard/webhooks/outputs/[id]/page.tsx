import { TextLink } from '#components/ui/text-link.tsx'
import { inboxUrl } from '#lib/dashboard/inbox.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { latestOf } from '#lib/webhooks/log/list-deliveries.ts'
import { showOutput } from '#lib/webhooks/outputs/find-output.ts'
import { showMissed } from '#lib/webhooks/outputs/missed-events.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { requireSession } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledBy } from '../../../title-of.ts'
import { WebhookOutputPanel } from '../webhook-output-panel.tsx'

type Props = { params: Promise<{ id: string }> }

export const generateMetadata = titledBy('Webhook outputs', (runtime, actor, outputId) =>
  showOutput(runtime, actor, { outputId }),
)

export default async function OutputPage({ params }: Props) {
  const { id } = await params
  const { actor, workspace } = await requireSession('see')
  const runtime = getRuntime()
  const output = await orNotFound(showOutput(runtime, actor, { outputId: id }))
  const { pipeId } = output
  const [missed, latest, pipe] = await Promise.all([
    showMissed(runtime, actor, { outputId: id }),
    latestOf(runtime, actor, id),
    pipeId ? showPipe(runtime, actor, pipeId) : undefined,
  ])
  return (
    <div className="max-w-3xl space-y-3">
      <p className="text-ink-soft text-sm">
        {pipe ? (
          <>
            Receives events from the Pipe{' '}
            <TextLink href={`/dashboard/pipes/${pipe.id}`}>{pipe.name}</TextLink>.
          </>
        ) : (
          <>
            Receives events from <TextLink href="/dashboard/settings/outputs">all Pipes</TextLink>.
          </>
        )}
      </p>
      <WebhookOutputPanel
        pipeId={pipeId}
        output={output}
        missed={missed}
        latest={latest}
        inboxUrl={inboxUrl(runtime.config, workspace.inboxKey)}
      />
    </div>
  )
}
