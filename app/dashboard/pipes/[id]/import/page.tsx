import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledByPipe } from '../../../title-of.ts'
import { SourceOff } from '../source-off.tsx'
import { ImportForm } from './form.tsx'

export const generateMetadata = titledByPipe('Import', 'operate')

export default async function Import({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor('operate')
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  if (!pipe.source.url) {
    return (
      <SourceOff pipeId={id}>Switch on this Pipe's URL source, then import files into it here.</SourceOff>
    )
  }
  return (
    <Panel title="Import from URLs" className="max-w-3xl">
      <ImportForm pipeId={id} />
    </Panel>
  )
}
