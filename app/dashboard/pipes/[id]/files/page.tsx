import { FileList } from '#app/dashboard/files/file-list.tsx'
import { readSearch, type Search } from '../../../page-query.ts'
import { titledByPipe } from '../../../title-of.ts'
import { currentPipe, type PipeProps } from '../current-pipe.ts'

export const generateMetadata = titledByPipe('Files')

type Props = PipeProps & { searchParams: Search }

export default async function PipeFiles({ searchParams, ...props }: Props) {
  const query = await readSearch(searchParams)
  const { actor, id } = await currentPipe(props, 'see')
  return <FileList actor={actor} path={`/dashboard/pipes/${id}/files`} query={query} pipeId={id} />
}
