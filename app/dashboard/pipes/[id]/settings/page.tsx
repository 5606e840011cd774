import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { previewPipeDeletion } from '#lib/workspace/pipes/delete-pipe.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledByPipe } from '../../../title-of.ts'
import { DeletePipe, PipeSettings } from './forms.tsx'

export const generateMetadata = titledByPipe('Settings')

export default async function Settings({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor('see')
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  const { uploadsUnderWay } = await previewPipeDeletion(getRuntime(), actor, id)
  return (
    <div className="max-w-3xl space-y-5">
      <Panel title="General">
        <PipeSettings pipe={pipe} />
      </Panel>
      <DeletePipe id={id} name={pipe.name} underWay={uploadsUnderWay} />
    </div>
  )
}
