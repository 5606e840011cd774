import { AddOutput, OutputList } from '#app/dashboard/webhooks/outputs/output-list.tsx'
import { WebhookOutputPanel } from '#app/dashboard/webhooks/outputs/webhook-output-panel.tsx'
import { requireSession } from '#app/session.ts'
import { inboxUrl } from '#lib/dashboard/inbox.ts'
import { listWithLatest } from '#lib/webhooks/log/list-deliveries.ts'
import { showMissed } from '#lib/webhooks/outputs/missed-events.ts'
import { MAX_OUTPUTS } from '#lib/webhooks/outputs/webhook-output.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'

export const generateMetadata = titledByPipe('Webhooks')

export default async function PipeWebhooks(props: PipeProps) {
  const { runtime, actor, id } = await currentPipe(props, 'see')
  const { workspace } = await requireSession('see')
  const [[first, ...further], missed] = await Promise.all([
    listWithLatest(runtime, actor, { pipeId: id }),
    showMissed(runtime, actor, { firstOf: id }),
  ])
  return (
    <div className="max-w-3xl space-y-3">
      <WebhookOutputPanel
        pipeId={id}
        output={first?.output}
        missed={missed}
        latest={first?.latest ?? []}
        inboxUrl={inboxUrl(runtime.config, workspace.inboxKey)}
      />
      <OutputList outputs={further} label="Further webhook outputs" />
      {first && <AddOutput pipeId={id} full={further.length + 1 >= MAX_OUTPUTS} />}
    </div>
  )
}
