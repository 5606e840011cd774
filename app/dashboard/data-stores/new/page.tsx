import { PageHeader } from '#components/shell/page-header.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { requireSession } from '../../../session.ts'
import { connect } from '../actions.ts'
import { CheckedForm } from '../checked-form.tsx'
import { FORM_PRESETS } from '../provider-presets.ts'

export const metadata = { title: 'Connect a bucket' }

export default async function NewDataStore() {
  await requireSession('administer')
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/data-stores', label: 'Data Stores' }}
        title="Connect a bucket"
        description="The check tries each operation with these keys and reports what works, what is refused, and what to change."
      />
      <Panel title="Bucket" className="max-w-3xl">
        <CheckedForm presets={FORM_PRESETS} action={connect} />
      </Panel>
    </>
  )
}
