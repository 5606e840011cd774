import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { titledByPipe } from '../../../title-of.ts'
import { WithoutTusStep } from '../embed-step.tsx'
import { SourceOff } from '../source-off.tsx'
import { TryIt } from './try-it.tsx'

export const generateMetadata = titledByPipe('Try it', 'operate')

export default async function Try({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const actor = await currentActor('operate')
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  if (!pipe.source.http) {
    return <SourceOff pipeId={id}>Switch on this Pipe's HTTP (TUS) source, then upload to it here.</SourceOff>
  }
  const target = { baseUrl: getRuntime().config.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: id }
  return (
    <div className="space-y-9">
      <TryIt pipeId={id} endpoint={pipe.uploadUrl} />
      <div className="max-w-3xl">
        <WithoutTusStep target={target} />
      </div>
    </div>
  )
}
