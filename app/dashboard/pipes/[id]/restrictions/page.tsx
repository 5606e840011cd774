import { Panel } from '#components/ui/panel.tsx'
import { showDataStore } from '#lib/workspace/data-stores/read-data-stores.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { RestrictionsForm } from './form.tsx'

export const generateMetadata = titledByPipe('Restrictions')

export default async function Restrictions(props: PipeProps) {
  const { runtime, actor, pipe } = await currentPipe(props, 'see')
  const { prefix } = await showDataStore(runtime, actor, pipe.dataStoreId)
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
