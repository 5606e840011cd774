import { PageHeader } from '#components/shell/page-header.tsx'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { isDemoLocal } from '#lib/dashboard/demo/local-demo.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readServerFacts } from '#lib/workspace/data-stores/federation.ts'
import { requireSession } from '../../../session.ts'
import { connect, connectLocal } from '../actions.ts'
import { CheckedForm } from '../checked-form.tsx'
import { FORM_PRESETS } from '../provider-presets.ts'

export const metadata = { title: 'Connect a bucket' }

export default async function NewDataStore() {
  const { workspace } = await requireSession('administer')
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/data-stores', label: 'Data Stores' }}
        title="Connect a bucket"
        description="The check tries each operation with these keys and reports what works, what is refused, and what to change."
      />
      {isDemoLocal(getRuntime().config) && !workspace.demo && (
        <Notice
          tone="info"
          className="mb-5 max-w-3xl"
          title="There is a bucket on this server"
          action={<ActionForm action={connectLocal} submit="Use it" about=": the bucket on this server" />}
        >
          Enough to try Sluice without an account at a provider. Its objects are files in the data folder.
        </Notice>
      )}
      <Panel title="Bucket" className="max-w-3xl">
        <CheckedForm presets={FORM_PRESETS} server={readServerFacts(getRuntime().config)} action={connect} />
      </Panel>
    </>
  )
}
