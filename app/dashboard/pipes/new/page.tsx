import { Database } from 'lucide-react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { currentActor } from '../../../session.ts'
import { readSearch, type Search } from '../../page-query.ts'
import { CreatePipe } from './form.tsx'

export const metadata = { title: 'Create a Pipe' }

export default async function NewPipe({ searchParams }: { searchParams: Search }) {
  const { dataStore } = await readSearch(searchParams)
  const { data } = await listDataStores(getRuntime(), await currentActor('build'), { limit: 100 })
  return (
    <>
      <PageHeader back={{ href: '/dashboard/pipes', label: 'Pipes' }} title="Create a Pipe" />
      {data.length === 0 ? (
        <EmptyState
          icon={Database}
          title="Connect a bucket first"
          action={
            <ButtonLink href="/dashboard/data-stores/new" tone="primary">
              Connect a bucket
            </ButtonLink>
          }
        >
          A Pipe sends files to a Data Store. Connect one, then come back here.
        </EmptyState>
      ) : (
        <Panel title="Pipe" className="max-w-xl">
          <CreatePipe
            stores={data.map(({ id, name, bucket }) => ({ id, label: `${name} (${bucket})` }))}
            chosen={data.some(({ id }) => id === dataStore) ? dataStore : undefined}
          />
        </Panel>
      )}
    </>
  )
}
