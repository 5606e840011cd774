import { HttpSource } from '#components/pipes/http-source.tsx'
import { PipeDestination } from '#components/pipes/pipe-destination.tsx'
import { WebhookOutputPanel } from '#components/webhooks/webhook-output-panel.tsx'
import { inboxUrl } from '#lib/dashboard/inbox.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showOutput } from '#lib/webhooks/outputs/find-output.ts'
import { showMissed } from '#lib/webhooks/outputs/missed-events.ts'
import { showDataStore } from '#lib/workspace/data-stores/read-data-stores.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor, requireSession } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { orNothing } from '../../or-nothing.ts'
import { titleOf } from '../../title-of.ts'

export async function generateMetadata({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  return titleOf(
    showPipe(getRuntime(), await currentActor('see'), id).then(({ name }) => name),
    'Pipes',
  )
}

export default async function PipePage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const { actor, workspace } = await requireSession('see')
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  const [store, output, missed] = await Promise.all([
    showDataStore(getRuntime(), actor, pipe.dataStoreId),
    showOutput(getRuntime(), actor, id).catch(orNothing),
    showMissed(getRuntime(), actor, id),
  ])
  return (
    <div className="max-w-3xl space-y-8">
      <section aria-labelledby="inputs" className="space-y-3">
        <h2 id="inputs" className="font-semibold text-lg">
          Inputs
        </h2>
        <HttpSource pipe={pipe} />
      </section>
      <section aria-labelledby="outputs" className="space-y-3">
        <h2 id="outputs" className="font-semibold text-lg">
          Outputs
        </h2>
        <PipeDestination store={store} />
        <WebhookOutputPanel
          pipeId={id}
          output={output}
          missed={missed}
          inboxUrl={inboxUrl(getRuntime().config, workspace.inboxKey)}
        />
      </section>
    </div>
  )
}
