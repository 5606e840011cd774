import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { PasswordField, TypeToConfirm } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { countUnderWay } from '#lib/dashboard/overview/read-overview.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import { removeAccount } from './actions.ts'

export const metadata = { title: 'Delete the account' }

/** Lists the consequences above the button, and requires the user to type the account's address. */
export default async function Account() {
  const { actor, email, hasPassword, workspace } = await requireSession('see')
  const underWay = await countUnderWay(getRuntime(), actor)
  return (
    <Panel tone="danger" title="Delete the account" className="max-w-2xl">
      {workspace.demo ? (
        <Notice tone="info">The demo workspace cannot be deleted while DEMO is on.</Notice>
      ) : (
        <ActionForm action={removeAccount} submit="Delete my account" submitTone="danger">
          <ul className="list-disc space-y-1 pl-5 text-ink-soft text-sm">
            <li>
              {underWay === 0
                ? 'No uploads in progress.'
                : `${plural(underWay, 'upload')} in progress will be canceled.`}
            </li>
            <li>Every Pipe closes, and every Sender, token and account key stops working immediately.</li>
            <li>Records of files and webhooks are erased. Objects in your buckets are not touched.</li>
            <li>This cannot be undone.</li>
          </ul>
          <TypeToConfirm name="email" text={email} className="max-w-sm" />
          {hasPassword && <PasswordField className="max-w-sm" />}
        </ActionForm>
      )}
    </Panel>
  )
}
