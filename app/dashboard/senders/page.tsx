import { KeySquare } from 'lucide-react'
import { CreateSender } from '#components/senders/create-sender.tsx'
import { SenderTable } from '#components/senders/sender-table.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { getRuntime } from '#lib/runtime.ts'
import { listSenders } from '#lib/senders/list-senders.ts'
import { currentActor } from '../../session.ts'
import { pageOf, readSearch, type Search } from '../page-query.ts'

export const metadata = { title: 'Senders' }

export default async function Senders({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const { data, nextCursor } = await listSenders(getRuntime(), await currentActor(), pageOf(query))
  return (
    <>
      <PageHeader
        title="Senders"
        description="Your backends. Each has a private token that it trades for temporary ones."
        actions={<CreateSender startOpen={query.new === '1'} />}
      />
      {data.length === 0 ? (
        <EmptyState icon={KeySquare} title="No Sender yet">
          A Sender is a backend of yours. Its token stays there; browsers get short-lived ones that your
          backend asks for.
        </EmptyState>
      ) : (
        <SenderTable senders={data} />
      )}
      <Pager path="/dashboard/senders" query={query} nextCursor={nextCursor} />
    </>
  )
}
