import { DataStoreState } from '#components/data-stores/data-store-state.tsx'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { CopyableId } from '#components/ui/copyable.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readServerFacts } from '#lib/workspace/data-stores/federation.ts'
import { readStates, showDataStore } from '#lib/workspace/data-stores/read-data-stores.ts'
import { currentActor } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { titledBy } from '../../title-of.ts'
import { remove, update } from '../actions.ts'
import { CheckReport } from '../check-report.tsx'
import { SasExpiry } from '../check-verdict.tsx'
import { CheckedForm } from '../checked-form.tsx'
import { FORM_PRESETS } from '../provider-presets.ts'
import { SharedLimits } from '../shared-limits.tsx'
import { Trust } from '../trust.tsx'

export const generateMetadata = titledBy('Data Stores', showDataStore)

export default async function DataStorePage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor('see')
  const store = await orNotFound(showDataStore(getRuntime(), actor, id))
  const state = (await readStates(getRuntime().db, [id])).get(id)!
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/data-stores', label: 'Data Stores' }}
        title={store.name}
        description={<CopyableId id={id} what="Data Store id" />}
        beside={<DataStoreState check={store.check} state={state} />}
      />
      <div className="max-w-3xl space-y-5">
        <RejectingBanner actor={actor} only={[id]} here />
        <SasExpiry sas={store.sas} nowMs={getRuntime().clock.now()} />
        <CheckReport store={store} state={state} />
        <SharedLimits actor={actor} id={id} />
        <Panel title="Settings">
          <CheckedForm
            store={store}
            presets={FORM_PRESETS}
            server={readServerFacts(getRuntime().config)}
            action={update.bind(null, id)}
          />
        </Panel>
        <Trust store={store} />
        <IfMay right="administer">
          <Panel
            tone="danger"
            title="Delete"
            description="Sluice removes the Data Store and erases its keys. Your bucket and its objects are not touched."
            aside={
              <ConfirmDialog
                trigger="Delete…"
                look={{ tone: 'danger' }}
                title={`Delete ${store.name}`}
                name={store.name}
                confirm="Delete this Data Store"
                action={remove.bind(null, id)}
              >
                <p>Sluice erases its keys. File records are kept, and the objects stay in your bucket.</p>
                <p>A Data Store cannot be deleted while a Pipe uses it.</p>
              </ConfirmDialog>
            }
          />
        </IfMay>
      </div>
    </>
  )
}
