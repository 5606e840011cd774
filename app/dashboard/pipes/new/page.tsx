import { Database } from 'lucide-react'
import { firstWorking, storeOptions } from '#components/data-stores/store-options.ts'
import { PageHeader } from '#components/shell/page-header.tsx'
import { ActionForm } from '#components/ui/action-form.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { CheckField, SelectField, TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listDataStores } from '#lib/workspace/data-stores/read-data-stores.ts'
import { listRejecting } from '#lib/workspace/data-stores/rejections.ts'
import { currentActor } from '../../../session.ts'
import { readSearch, type Search } from '../../page-query.ts'
import { create } from './actions.ts'

export const metadata = { title: 'Create a Pipe' }

export default async function NewPipe({ searchParams }: { searchParams: Search }) {
  const { dataStore } = await readSearch(searchParams)
  const actor = await currentActor('build')
  const [{ data }, rejecting] = await Promise.all([
    listDataStores(getRuntime(), actor, { limit: 100 }),
    listRejecting(getRuntime(), actor),
  ])
  const stores = storeOptions(data, rejecting)
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
          <ActionForm action={create} submit="Create Pipe">
            <TextField name="name" label="Name" placeholder="Video uploads" maxLength={100} autoFocus />
            <SelectField
              name="dataStoreId"
              label="Data Store"
              hint="Where the Pipe's files go."
              defaultValue={data.some(({ id }) => id === dataStore) ? dataStore : firstWorking(stores)}
              options={stores.map(({ id, label }) => [id, label])}
            />
            <CheckField
              name="sourceHttp"
              label="Switch on its HTTP (TUS) source"
              hint="The Pipe then accepts uploads once its bucket is ready. You can change this at any time."
              defaultChecked
            />
          </ActionForm>
        </Panel>
      )}
    </>
  )
}
