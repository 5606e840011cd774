import { KeySquare, Plus } from 'lucide-react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listSenders } from '#lib/workspace/senders/read-senders.ts'
import { currentActor } from '../../session.ts'
import { orNotFound } from '../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../page-query.ts'
import { CreateSender } from './forms.tsx'
import { SenderTable } from './sender-table.tsx'

export const metadata = { title: 'Senders' }

export default async function Senders({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const { data, nextCursor } = await orNotFound(
    listSenders(getRuntime(), await currentActor('see'), pageOf(query)),
  )
  return (
    <>
      <PageHeader
        title="Senders"
        description="Your backends. Each has a private token that it exchanges for temporary ones."
        actions={
          <IfMay right="build">
            <CreateSender asked={query.new === '1'} button={data.length > 0} />
          </IfMay>
        }
      />
      {data.length === 0 ? (
        <EmptyState
          icon={KeySquare}
          title="No Senders yet"
          action={
            <IfMay right="build">
              <ButtonLink href="/dashboard/senders?new=1" tone="primary" scroll={false} icon={Plus}>
                Create a Sender
              </ButtonLink>
            </IfMay>
          }
        >
          A Sender is one of your backends. Its token stays there; browsers get short-lived tokens that your
          backend requests.
        </EmptyState>
      ) : (
        <SenderTable senders={data} />
      )}
      <Pager path="/dashboard/senders" query={query} nextCursor={nextCursor} />
    </>
  )
}
