import { Plus, Workflow } from 'lucide-react'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { LONG, NAME, RowLink, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listDataStores, readStates } from '#lib/workspace/data-stores/read-data-stores.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../session.ts'
import { orNotFound } from '../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../page-query.ts'
import { PipeState } from './pipe-state.tsx'

export const metadata = { title: 'Pipes' }

export default async function Pipes({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  const [{ data, nextCursor }, stores] = await Promise.all([
    orNotFound(listPipes(getRuntime(), actor, pageOf(query))),
    listDataStores(getRuntime(), actor, { limit: 100 }),
  ])
  const states = await readStates(
    getRuntime().db,
    data.flatMap(({ destinations }) => destinations.map(({ dataStoreId }) => dataStoreId)),
  )
  const storeNames = new Map(stores.data.map(({ id, name }) => [id, name]))
  const placesOf = ({ destinations }: Pipe) =>
    destinations.map(({ dataStoreId }) => storeNames.get(dataStoreId) ?? '–').join(', ')
  const create = (
    <IfMay right="build">
      <ButtonLink href="/dashboard/pipes/new" tone="primary" icon={Plus}>
        Create a Pipe
      </ButtonLink>
    </IfMay>
  )
  return (
    <>
      <PageHeader
        title="Pipes"
        description="Each Pipe is an upload endpoint that has its own rules and sends files to your buckets."
        actions={data.length > 0 && create}
      />
      <RejectingBanner actor={actor} />
      {data.length === 0 ? (
        <EmptyState icon={Workflow} title="Create your first Pipe" action={create}>
          A Pipe gives you an address that any TUS client can upload to. Files go straight into your bucket,
          and a webhook notifies your backend.
        </EmptyState>
      ) : (
        <Table
          caption="Pipes"
          terse
          rows={data}
          columns={[
            ['Name', ({ id, name }) => <RowLink href={`/dashboard/pipes/${id}`}>{name}</RowLink>, NAME],
            ['State', (pipe) => <PipeState pipe={pipe} states={states} />],
            ['Data Stores', placesOf, LONG],
            ['Id', ({ id }) => id, { spare: true, className: 'font-mono text-ink-soft text-xs' }],
            ['Created', ({ createdAt }) => <Time at={createdAt} />, SOFT_NUMBER],
          ]}
        />
      )}
      <Pager path="/dashboard/pipes" query={query} nextCursor={nextCursor} />
    </>
  )
}
