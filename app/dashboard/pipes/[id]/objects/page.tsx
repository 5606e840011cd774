import { ObjectForm } from '#components/pipes/object-form.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledByPipe } from '../../../title-of.ts'

export const generateMetadata = titledByPipe('Objects')

export default async function Objects({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const pipe = await orNotFound(showPipe(getRuntime(), await currentActor('see'), id))
  return (
    <Panel
      title="Objects"
      description="What your bucket is told of each object beside its bytes. It holds for uploads that begin from now on; people who upload can change none of it."
      className="max-w-3xl"
    >
      <ObjectForm pipe={pipe} />
    </Panel>
  )
}
