import type { Invitation } from '#lib/identity/workspaces/invitations.ts'
import { Status } from '../ui/status.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { InvitationActions } from './member-forms.tsx'

type Props = { invitations: Invitation[]; manageable: string[]; nowMs: number }

export function PendingInvitations({ invitations, manageable, nowMs }: Props) {
  if (invitations.length === 0) return null
  const head = (
    <>
      <Th>Invited</Th>
      <Th>Role</Th>
      <Th>By</Th>
      <Th>Until</Th>
      <Th>
        <span className="sr-only">Actions</span>
      </Th>
    </>
  )
  return (
    <div className="mt-6">
      <h2 className="mb-2 font-semibold text-base">Invitations</h2>
      <Table caption="Invitations" head={head}>
        {invitations.map(({ id, email, role, invitedBy, expiresAt }) => (
          <Row key={id}>
            <Td long className="font-medium">
              {email}
            </Td>
            <Td label="Role">{role}</Td>
            <Td long label="By" className="text-ink-soft">
              {invitedBy}
            </Td>
            <Td label="Until" className="text-ink-soft">
              {Date.parse(expiresAt) <= nowMs ? <Status state="expired" /> : <Time at={expiresAt} />}
            </Td>
            <Td className="text-right">
              {manageable.includes(id) && <InvitationActions id={id} email={email} />}
            </Td>
          </Row>
        ))}
      </Table>
    </div>
  )
}
