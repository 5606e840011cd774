import { FileList } from '#app/dashboard/files/file-list.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../../session.ts'
import { orNotFound } from '../../../or-not-found.ts'
import { readSearch, type Search } from '../../../page-query.ts'
import { titledByPipe } from '../../../title-of.ts'

export const generateMetadata = titledByPipe('Files')

type Props = { params: Promise<{ id: string }>; searchParams: Search }

export default async function PipeFiles({ params, searchParams }: Props) {
  const { id } = await params
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  await orNotFound(showPipe(getRuntime(), actor, id))
  return <FileList actor={actor} path={`/dashboard/pipes/${id}/files`} query={query} pipeId={id} />
}
