import { Panel } from '#components/ui/panel.tsx'
import { previewPipeDeletion } from '#lib/workspace/pipes/delete-pipe.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { DeletePipe, PipeSettings } from './forms.tsx'

export const generateMetadata = titledByPipe('Settings')

export default async function Settings(props: PipeProps) {
  const { runtime, actor, id, pipe } = await currentPipe(props, 'see')
  const { uploadsUnderWay } = await previewPipeDeletion(runtime, actor, id)
  return (
    <div className="max-w-3xl space-y-5">
      <Panel title="General">
        <PipeSettings pipe={pipe} />
      </Panel>
      <DeletePipe id={id} name={pipe.name} underWay={uploadsUnderWay} />
    </div>
  )
}
