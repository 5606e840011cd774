import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { countUnderWay } from '#lib/dashboard/overview/read-overview.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import { DeleteAccount } from './form.tsx'

export const metadata = { title: 'Delete the account' }

export default async function Account() {
  const { actor, email, hasPassword, workspace } = await requireSession('see')
  const underWay = await countUnderWay(getRuntime(), actor)
  return (
    <Panel tone="danger" title="Delete the account" className="max-w-2xl">
      {workspace.demo ? (
        <Notice tone="info">The demo workspace cannot be deleted while DEMO is on.</Notice>
      ) : (
        <DeleteAccount email={email} hasPassword={hasPassword} underWay={underWay} />
      )}
    </Panel>
  )
}
