import { ActionForm } from '#components/ui/action-form.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Status } from '#components/ui/status.tsx'
import { ACTIONS, LONG, NAME, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Invitation } from '#lib/identity/workspaces/invitations.ts'
import { resendInvitation, withdrawInvitation } from './actions.ts'

type Props = { invitations: Invitation[]; manageable: string[]; nowMs: number }

export function PendingInvitations({ invitations, manageable, nowMs }: Props) {
  if (invitations.length === 0) return null
  return (
    <div className="mt-6">
      <h2 className="mb-2 font-semibold text-base">Invitations</h2>
      <Table
        caption="Invitations"
        rows={invitations}
        columns={[
          ['Invited', ({ email }) => email, NAME],
          ['Role', ({ role }) => role],
          ['Invited by', ({ invitedBy }) => invitedBy, LONG],
          [
            'Expires',
            ({ expiresAt }) =>
              Date.parse(expiresAt) <= nowMs ? <Status state="expired" /> : <Time at={expiresAt} />,
            SOFT,
          ],
          [
            'Actions',
            ({ id, email }) => manageable.includes(id) && <InvitationActions id={id} email={email} />,
            ACTIONS,
          ],
        ]}
      />
    </div>
  )
}

function InvitationActions({ id, email }: { id: string; email: string }) {
  return (
    <span className="inline-flex gap-1">
      <ActionForm
        action={resendInvitation.bind(null, id)}
        className="flex"
        submit="Send again"
        about={` to ${email}`}
        submitSize="sm"
        submitTone="quiet"
      />
      <ConfirmDialog
        trigger="Withdraw"
        triggerLabel={`Withdraw the invitation for ${email}`}
        title={`Withdraw the invitation for ${email}`}
        confirm="Withdraw"
        action={withdrawInvitation.bind(null, id)}
      >
        <p>The link stops working immediately.</p>
      </ConfirmDialog>
    </span>
  )
}
