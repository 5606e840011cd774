import { Status } from '#components/ui/status.tsx'
import { ACTIONS, LONG, NAME, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Invitation } from '#lib/identity/workspaces/invitations.ts'
import { InvitationActions } from './forms.tsx'

type Props = { invitations: Invitation[]; manageable: string[]; nowMs: number }

export function PendingInvitations({ invitations, manageable, nowMs }: Props) {
  if (invitations.length === 0) return null
  return (
    <div className="mt-6">
      <h2 className="mb-2 font-semibold text-base">Invitations</h2>
      <Table
        caption="Invitations"
        rows={invitations}
        rowKey={({ id }) => id}
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
