import { ActionForm } from '#components/ui/action-form.tsx'
import { TextArea } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { SourceOff } from '../source-off.tsx'
import { importFiles } from './actions.ts'

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
      <ActionForm right="operate" action={importFiles.bind(null, id)} submit="Import">
        <TextArea
          name="urls"
          label="URLs"
          mono
          rows={8}
          placeholder={'https://example.com/films/one.mp4\nhttps://example.com/films/two.mp4'}
          hint="One per line, up to 1,000. Sluice fetches them in the background, and resumes if a connection is lost."
        />
      </ActionForm>
    </Panel>
  )
}
