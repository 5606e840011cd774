import { Panel } from '#components/ui/panel.tsx'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { ObjectForm } from './form.tsx'

export const generateMetadata = titledByPipe('Objects')

export default async function Objects(props: PipeProps) {
  const { pipe } = await currentPipe(props, 'see')
  return (
    <Panel
      title="Objects"
      description="Headers and tags that your bucket stores with each object. Changes apply to new uploads; uploaders cannot change them."
      className="max-w-3xl"
    >
      <ObjectForm pipe={pipe} />
    </Panel>
  )
}
