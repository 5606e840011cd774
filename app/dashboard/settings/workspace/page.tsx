import { plural } from '#components/format.ts'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Time } from '#components/ui/time.tsx'
import { countUnderWay } from '#lib/dashboard/overview/read-overview.ts'
import { may, withArticle } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import {
  DeleteWorkspace,
  LeaveWorkspace,
  RenameWorkspace,
  RequireFactor,
  RestoreWorkspace,
} from './forms.tsx'

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
          {owns && <RestoreWorkspace />}
        </Notice>
      )}
      <Panel title="Workspace">
        {administers ? (
          <RenameWorkspace name={workspace.name} />
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
            <RequireFactor required={required} />
          ) : (
            <p className="text-ink-soft text-sm">
              This workspace requires a second factor. Only an owner can change that.
            </p>
          )}
        </Panel>
      )}
      <Panel title="Leave" description="The last owner cannot leave: the workspace needs an owner.">
        <LeaveWorkspace name={workspace.name} />
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
