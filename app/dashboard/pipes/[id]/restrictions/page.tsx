import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showDataStore } from '#lib/workspace/data-stores/read-data-stores.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledByPipe } from '../../../title-of.ts'
import { RestrictionsForm } from './form.tsx'

export const generateMetadata = titledByPipe('Restrictions')

export default async function Restrictions({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor('see')
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  const { prefix } = await showDataStore(getRuntime(), actor, pipe.dataStoreId)
  return (
    <Panel
      title="Restrictions"
      description="Restrictions apply to new uploads. A token can tighten them, but never loosen them."
      className="max-w-3xl"
    >
      <RestrictionsForm pipe={pipe} prefix={prefix} />
    </Panel>
  )
}
