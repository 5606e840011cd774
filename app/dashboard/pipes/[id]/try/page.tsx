import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'
import { WithoutTusStep } from '../embed-step.tsx'
import { SourceOff } from '../source-off.tsx'
import { TryIt } from './try-it.tsx'

export const generateMetadata = titledByPipe('Try it', 'operate')

export default async function Try(props: PipeProps) {
  const { runtime, id, pipe } = await currentPipe(props, 'operate')
  if (!pipe.source.http) {
    return <SourceOff pipeId={id}>Switch on this Pipe's HTTP (TUS) source, then upload to it here.</SourceOff>
  }
  const target = { baseUrl: runtime.config.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: id }
  return (
    <div className="space-y-9">
      <TryIt pipeId={id} endpoint={pipe.uploadUrl} />
      <div className="max-w-3xl">
        <WithoutTusStep target={target} />
      </div>
    </div>
  )
}
