import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { CheckField, PasswordField, TextField, TypeToConfirm } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Time } from '#components/ui/time.tsx'
import { countUnderWay } from '#lib/dashboard/overview/read-overview.ts'
import { may, withArticle } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import {
  deleteWorkspace,
  leaveWorkspace,
  renameWorkspace,
  requireFactor,
  restoreWorkspace,
} from './actions.ts'

export const metadata = { title: 'Workspace' }

export default async function WorkspaceSettings() {
  const { actor, workspace, hasPassword } = await requireSession('see')
  const [owns, administers] = [may(actor, 'own'), may(actor, 'administer')]
  const required = workspace.requiresSecondFactor
  const underWay = await countUnderWay(getRuntime(), actor)
  return (
    <div className="max-w-2xl space-y-5">
      {workspace.deleteAfter && (
        <Notice tone="warn" title="This workspace is scheduled for deletion">
          <p className="mb-3">
            It accepts no uploads. Everything in it will be erased{' '}
            <Time at={workspace.deleteAfter.toISOString()} />.
            {owns ? '' : ' An owner can restore it until then.'}
          </p>
          {owns && <ActionForm action={restoreWorkspace} submitTone="primary" submit="Restore" />}
        </Notice>
      )}
      <Panel title="Workspace">
        {administers ? (
          <ActionForm action={renameWorkspace} submit="Save" submitTone="plain" width="sm">
            <TextField
              name="name"
              label="Name"
              defaultValue={workspace.name}
              maxLength={100}
              autoComplete="off"
            />
          </ActionForm>
        ) : (
          <p className="text-ink-soft text-sm">
            <strong className="font-semibold text-ink">{workspace.name}</strong>. You are{' '}
            {withArticle(actor.role)} here; an admin can rename it.
          </p>
        )}
      </Panel>
      {administers && (
        <Panel title="Signing in">
          {owns || !required ? (
            <ActionForm action={requireFactor} submit="Save" submitTone="plain">
              <CheckField
                name="required"
                defaultChecked={required}
                label="Require a second factor"
                hint="Members without one must set one up before they can open this workspace again, however they sign in."
              />
            </ActionForm>
          ) : (
            <p className="text-ink-soft text-sm">
              This workspace requires a second factor. Only an owner can change that.
            </p>
          )}
        </Panel>
      )}
      <Panel title="Leave" description="The last owner cannot leave: the workspace needs an owner.">
        <ConfirmDialog
          trigger="Leave…"
          look={{}}
          title={`Leave ${workspace.name}`}
          confirm="Leave"
          action={leaveWorkspace}
        >
          <p>
            You lose access in every tab, and the account keys you created here are revoked. To return, you
            need a new invitation.
          </p>
        </ConfirmDialog>
      </Panel>
      {owns && !workspace.deleteAfter && (
        <Panel tone="danger" title="Delete the workspace">
          {workspace.demo ? (
            <Notice tone="info">The demo workspace cannot be deleted while DEMO is on.</Notice>
          ) : (
            <DeleteWorkspace
              name={workspace.name}
              hasPassword={hasPassword}
              underWay={
                underWay === 0 ? 'No upload is in progress.' : `${plural(underWay, 'upload')} in progress.`
              }
            />
          )}
        </Panel>
      )}
    </div>
  )
}

type DeleteProps = { name: string; hasPassword: boolean; underWay: string }

/** Lists the consequences above the button, and requires the user to type the workspace's name. */
function DeleteWorkspace({ name, hasPassword, underWay }: DeleteProps) {
  return (
    <ActionForm action={deleteWorkspace} submit="Delete the workspace" submitTone="danger">
      <ul className="list-disc space-y-1 pl-5 text-ink-soft text-sm">
        <li>Sluice immediately stops issuing tokens and accepting bytes. {underWay}</li>
        <li>
          Everything is kept for seven days. During that time, any owner can restore the workspace here.
        </li>
        <li>
          After that, Pipes, Senders, tokens and keys stop working, uploads in progress are canceled, and the
          records of files and webhooks are erased.
        </li>
        <li>The objects in your buckets are yours and are not touched.</li>
      </ul>
      <TypeToConfirm name="name" text={name} className="max-w-sm" />
      {hasPassword && <PasswordField className="max-w-sm" />}
    </ActionForm>
  )
}
