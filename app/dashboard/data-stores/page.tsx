import { Database, Plus } from 'lucide-react'
import Link from 'next/link'
import { DataStoreState } from '#components/data-stores/data-store-state.tsx'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Row, Table, Td, Th } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { PRESETS } from '#lib/workspace/data-stores/presets.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { currentActor } from '../../session.ts'
import { orNotFound } from '../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../page-query.ts'

export const metadata = { title: 'Data Stores' }

export default async function DataStores({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  const { data, nextCursor } = await orNotFound(listDataStores(getRuntime(), actor, pageOf(query)))
  const connect = (
    <IfMay right="administer">
      <ButtonLink href="/dashboard/data-stores/new" tone="primary">
        <Plus aria-hidden />
        Connect a bucket
      </ButtonLink>
    </IfMay>
  )
  const head = (
    <>
      <Th>Name</Th>
      <Th>Provider</Th>
      <Th>Bucket</Th>
      <Th>Check</Th>
      <Th className="text-right">Last checked</Th>
    </>
  )
  return (
    <>
      <PageHeader
        title="Data Stores"
        description="The buckets that your uploads go to."
        actions={data.length > 0 && connect}
      />
      <RejectingBanner actor={actor} />
      {data.length === 0 ? (
        <EmptyState icon={Database} title="Connect your first bucket" action={connect}>
          Uploads go straight into a bucket of yours, at any S3-compatible provider. One permission is enough:
          PutObject.
        </EmptyState>
      ) : (
        <Table caption="Data Stores" head={head}>
          {data.map((store) => (
            <Row key={store.id}>
              <Td long className="font-medium">
                <Link href={`/dashboard/data-stores/${store.id}`} className="row-link">
                  {store.name}
                </Link>
              </Td>
              <Td label="Provider" className="text-ink-soft">
                {PRESETS[store.provider].label}
              </Td>
              <Td long label="Bucket" className="font-mono text-xs">
                {store.bucket}
                {store.prefix && <span className="text-ink-faint">/{store.prefix}</span>}
              </Td>
              <Td label="Check">
                <DataStoreState store={store} />
              </Td>
              <Td label="Last checked" number className="text-ink-soft">
                {store.check ? <Time at={store.check.checkedAt} /> : 'never'}
              </Td>
            </Row>
          ))}
        </Table>
      )}
      <Pager path="/dashboard/data-stores" query={query} nextCursor={nextCursor} />
    </>
  )
}
