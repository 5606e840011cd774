import { FileList } from '#components/files/file-list.tsx'
import { currentActor } from '../../../../session.ts'
import { readSearch, type Search } from '../../../page-query.ts'

export const metadata = { title: 'Files of a Pipe' }

type Props = { params: Promise<{ id: string }>; searchParams: Search }

export default async function PipeFiles({ params, searchParams }: Props) {
  const { id } = await params
  const query = await readSearch(searchParams)
  return (
    <FileList actor={await currentActor()} path={`/dashboard/pipes/${id}/files`} query={query} pipeId={id} />
  )
}
