import { KeySquare, Plus } from 'lucide-react'
import { itemFilter } from '#components/lists/filters.ts'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { FilterBar } from '#components/ui/filter-bar.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listSenders } from '#lib/workspace/senders/read-senders.ts'
import { listGroups } from '#lib/workspace/senders/sender-groups.ts'
import { currentActor } from '../../session.ts'
import { orNotFound } from '../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../page-query.ts'
import { CreateSender } from './forms.tsx'
import { CreateMany } from './groups/forms.tsx'
import { SenderTable } from './sender-table.tsx'

export const metadata = { title: 'Senders' }

export default async function Senders({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const { name, groupId } = query
  const actor = await currentActor('see')
  const wanted = { ...pageOf(query), name, groupId, silentFirst: true }
  const { data, nextCursor } = await orNotFound(listSenders(getRuntime(), actor, wanted))
  const groups = (await listGroups(getRuntime(), actor)).map(({ id, name }) => ({ id, name }))
  const isEmpty = data.length === 0
  const isFiltered = Boolean(name || groupId)
  return (
    <>
      <PageHeader
        title="Senders"
        description="Your backends and devices. Those that have been silent for too long come first."
        actions={
          <>
            <ButtonLink href="/dashboard/senders/groups">Groups</ButtonLink>
            <IfMay right="build">
              <CreateMany groups={groups} />
              <CreateSender asked={query.new === '1'} button={!isEmpty} />
            </IfMay>
          </>
        }
      />
      {(!isEmpty || isFiltered) && (
        <FilterBar
          filters={[{ kind: 'text', name: 'name', label: 'Search' }, itemFilter('groupId', 'Group', groups)]}
        />
      )}
      {!isEmpty && <SenderTable senders={data} groups={groups} />}
      {isEmpty && isFiltered && (
        <EmptyState icon={KeySquare} title="No Sender matches these filters">
          Clear a filter to see more.
        </EmptyState>
      )}
      {isEmpty && !isFiltered && (
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
          A Sender is a backend or a device. A backend's token stays there: browsers get short-lived tokens
          that it requests. A device signs in with its token.
        </EmptyState>
      )}
      <Pager path="/dashboard/senders" query={query} nextCursor={nextCursor} />
    </>
  )
}
