'use client'

import { UserPlus } from 'lucide-react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { giveRole, inviteMember, remove } from './actions.ts'

function RoleSelect({ roles, chosen }: { roles: string[]; chosen: string }) {
  return (
    <SelectField name="role" label="Role" defaultValue={chosen} options={roles.map((one) => [one, one])} />
  )
}

/** `unsent` says where the link is if the server does not send email. */
export function InviteMember({ roles, unsent }: { roles: string[]; unsent: string | undefined }) {
  return (
    <FormDialog
      title="Invite a member"
      description={`They ${unsent ? 'need' : 'receive an email with'} a link that works once, within seven days, and only for their address. ${unsent ?? ''}`}
      trigger="Invite"
      look={{ tone: 'primary', icon: UserPlus }}
      action={inviteMember}
      submit={unsent ? 'Create the invitation' : 'Send the invitation'}
    >
      <TextField name="email" label="Email" type="email" autoComplete="off" autoFocus />
      <RoleSelect roles={roles} chosen="developer" />
    </FormDialog>
  )
}

type ChangeProps = { userId: string; email: string; role: string; roles: string[] }

export function ChangeRole({ userId, email, role, roles }: ChangeProps) {
  return (
    <FormDialog
      title={`Change the role of ${email}`}
      description="The new role applies from their next request, including to the account keys they created."
      trigger="Change role"
      triggerLabel={`Change role of ${email}`}
      action={giveRole.bind(null, userId)}
      submit="Change the role"
    >
      <RoleSelect roles={roles} chosen={role} />
    </FormDialog>
  )
}

export function RemoveMember({ userId, email }: { userId: string; email: string }) {
  return (
    <ConfirmDialog
      trigger="Remove"
      triggerLabel={`Remove ${email}`}
      title={`Remove ${email}`}
      confirm="Remove"
      action={remove.bind(null, userId)}
    >
      <p>
        They lose access on their next request, in every tab. The account keys they created here are revoked.
        Everything else they created is kept.
      </p>
    </ConfirmDialog>
  )
}
