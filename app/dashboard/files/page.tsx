import { PageHeader } from '#components/shell/page-header.tsx'
import { currentActor } from '../../session.ts'
import { readSearch, type Search } from '../page-query.ts'
import { FileList } from './file-list.tsx'

export const metadata = { title: 'Files' }

export default async function Files({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  return (
    <>
      <PageHeader
        title="Files"
        description="Every upload, from the first byte to the object in your bucket."
      />
      <FileList actor={await currentActor('see')} path="/dashboard/files" query={query} />
    </>
  )
}
