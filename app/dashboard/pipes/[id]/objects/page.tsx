import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledByPipe } from '../../../title-of.ts'
import { ObjectForm } from './form.tsx'

export const generateMetadata = titledByPipe('Objects')

export default async function Objects({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const pipe = await orNotFound(showPipe(getRuntime(), await currentActor('see'), id))
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
