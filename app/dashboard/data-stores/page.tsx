import { Database, Plus } from 'lucide-react'
import { DataStoreState } from '#components/data-stores/data-store-state.tsx'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { NAME, RowLink, SOFT, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import { PRESETS } from '#lib/workspace/data-stores/presets.ts'
import { listDataStores, readStates } from '#lib/workspace/data-stores/read-data-stores.ts'
import { currentActor } from '../../session.ts'
import { orNotFound } from '../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../page-query.ts'

export const metadata = { title: 'Data Stores' }

export default async function DataStores({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  const { data, nextCursor } = await orNotFound(listDataStores(getRuntime(), actor, pageOf(query)))
  const states = await readStates(
    getRuntime().db,
    data.map(({ id }) => id),
  )
  const connect = (
    <IfMay right="administer">
      <ButtonLink href="/dashboard/data-stores/new" tone="primary" icon={Plus}>
        Connect a bucket
      </ButtonLink>
    </IfMay>
  )
  return (
    <>
      <PageHeader
        title="Data Stores"
        description="The buckets your uploads go to."
        actions={data.length > 0 && connect}
      />
      <RejectingBanner actor={actor} />
      {data.length === 0 ? (
        <EmptyState icon={Database} title="Connect your first bucket" action={connect}>
          Uploads go straight into your own bucket at any S3-compatible provider. Only one permission is
          needed: PutObject.
        </EmptyState>
      ) : (
        <Table
          caption="Data Stores"
          terse
          rows={data}
          columns={[
            ['Name', ({ id, name }) => <RowLink href={`/dashboard/data-stores/${id}`}>{name}</RowLink>, NAME],
            ['Provider', ({ provider }) => PRESETS[provider].label, SOFT],
            ['Bucket', (store) => <Place store={store} />, { long: true, className: 'font-mono text-xs' }],
            ['State', (store) => <DataStoreState check={store.check} state={states.get(store.id)!} />],
            ['Last checked', ({ check }) => check && <Time at={check.checkedAt} />, SOFT_NUMBER],
          ]}
        />
      )}
      <Pager path="/dashboard/data-stores" query={query} nextCursor={nextCursor} />
    </>
  )
}

function Place({ store: { bucket, prefix } }: { store: DataStore }) {
  return (
    <>
      {bucket}
      {prefix && <span className="text-ink-faint">/{prefix}</span>}
    </>
  )
}
