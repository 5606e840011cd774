import { AddOutput, OutputList } from '#app/dashboard/webhooks/outputs/output-list.tsx'
import { WebhookOutputPanel } from '#app/dashboard/webhooks/outputs/webhook-output-panel.tsx'
import { storeOptions } from '#components/data-stores/store-options.ts'
import { inboxUrl } from '#lib/dashboard/inbox.ts'
import { describeSet } from '#lib/dashboard/pipes/destination-set.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readHostKey, sftpAddress } from '#lib/sftp/read-host-key.ts'
import { listWithLatest } from '#lib/webhooks/log/list-deliveries.ts'
import { showMissed } from '#lib/webhooks/outputs/missed-events.ts'
import { MAX_OUTPUTS } from '#lib/webhooks/outputs/webhook-output.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { listRejecting } from '#lib/workspace/data-stores/rejections.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { requireSession } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { titledByPipe } from '../../title-of.ts'
import { isBlocked } from '../pipe-state.tsx'
import { PipeDestinations } from './pipe-destinations.tsx'
import { HttpSource, SftpSource, UrlSource } from './sources.tsx'

export const generateMetadata = titledByPipe('Pipes')

export default async function PipePage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const { actor, workspace } = await requireSession('see')
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  const [set, stores, [first, ...further], missed, hostKey, rejecting] = await Promise.all([
    describeSet(getRuntime(), pipe.destinations),
    listDataStores(getRuntime(), actor, { limit: 100 }),
    listWithLatest(getRuntime(), actor, { pipeId: id }),
    showMissed(getRuntime(), actor, { firstOf: id }),
    readHostKey(getRuntime().db),
    listRejecting(getRuntime(), actor),
  ])
  const states = new Map(set.members.map(({ store, state }) => [store.id, state]))
  const blocked = isBlocked({ pipe, states })
  return (
    <div className="max-w-3xl space-y-8">
      <section aria-labelledby="inputs" className="space-y-3">
        <h2 id="inputs" className="font-semibold text-lg">
          Inputs
        </h2>
        <HttpSource pipe={pipe} blocked={blocked} />
        <UrlSource pipe={pipe} blocked={blocked} />
        <SftpSource pipe={pipe} address={sftpAddress(getRuntime().config)} hostKey={hostKey} />
      </section>
      <section aria-labelledby="outputs" className="space-y-3">
        <h2 id="outputs" className="font-semibold text-lg">
          Outputs
        </h2>
        <PipeDestinations
          pipeId={id}
          set={set}
          others={storeOptions(stores.data, rejecting).filter(
            ({ id }) => !set.members.some(({ store }) => store.id === id),
          )}
        />
        <WebhookOutputPanel
          pipeId={id}
          output={first?.output}
          missed={missed}
          latest={first?.latest ?? []}
          inboxUrl={inboxUrl(getRuntime().config, workspace.inboxKey)}
        />
        <OutputList outputs={further} label="Further webhook outputs" />
        {first && <AddOutput pipeId={id} full={further.length + 1 >= MAX_OUTPUTS} />}
      </section>
    </div>
  )
}
