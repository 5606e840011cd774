'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { CheckField, PasswordField, TextField, TypeToConfirm } from '#components/ui/field.tsx'
import {
  deleteWorkspace,
  leaveWorkspace,
  renameWorkspace,
  requireFactor,
  restoreWorkspace,
} from './actions.ts'

export function RenameWorkspace({ name }: { name: string }) {
  return (
    <ActionForm action={renameWorkspace} submit="Save" submitTone="plain" width="sm">
      <TextField name="name" label="Name" defaultValue={name} maxLength={100} autoComplete="off" />
    </ActionForm>
  )
}

export function RequireFactor({ required }: { required: boolean }) {
  return (
    <ActionForm action={requireFactor} submit="Save" submitTone="plain">
      <CheckField
        name="required"
        defaultChecked={required}
        label="Require a second factor"
        hint="Members without one must set one up before they can open this workspace again, however they sign in."
      />
    </ActionForm>
  )
}

export function LeaveWorkspace({ name }: { name: string }) {
  return (
    <ConfirmDialog
      trigger={<Button>Leave…</Button>}
      title={`Leave ${name}`}
      confirm="Leave"
      action={leaveWorkspace}
    >
      <p>
        You lose access in every tab, and the account keys you created here are revoked. To return, you need a
        new invitation.
      </p>
    </ConfirmDialog>
  )
}

type DeleteProps = { name: string; hasPassword: boolean; underWay: string }

/** Lists the consequences above the button, and requires the user to type the workspace's name. */
export function DeleteWorkspace({ name, hasPassword, underWay }: DeleteProps) {
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

export function RestoreWorkspace() {
  return <ActionForm action={restoreWorkspace} submitTone="primary" submit="Restore" />
}
