import { Panel } from '#components/ui/panel.tsx'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { SourceOff } from '../source-off.tsx'
import { ImportForm } from './form.tsx'

export const generateMetadata = titledByPipe('Import', 'operate')

export default async function Import(props: PipeProps) {
  const { id, pipe } = await currentPipe(props, 'operate')
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
