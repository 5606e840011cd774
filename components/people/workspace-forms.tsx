'use client'

import { create, open } from '#app/(person)/workspaces/actions.ts'
import {
  deleteWorkspace,
  leaveWorkspace,
  renameWorkspace,
  requireFactor,
  restoreWorkspace,
} from '#app/dashboard/settings/workspace/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { CheckField, PasswordField, TextField, TypeToConfirm } from '../ui/field.tsx'

export function OpenWorkspace({ id, name }: { id: string; name: string }) {
  return (
    <ActionForm
      action={open.bind(null, id)}
      className="flex"
      submit="Open"
      about={` ${name}`}
      submitTone="plain"
      submitSize="sm"
    />
  )
}

export function CreateWorkspace() {
  return (
    <ActionForm action={create} submit="Create" submitTone="plain">
      <TextField name="name" label="Name" maxLength={100} autoComplete="organization" />
    </ActionForm>
  )
}

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
        hint="Whoever has none sets one up before they can enter this workspace again, however they sign in."
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
        You no longer see it, in any tab, and the account keys that you made here are revoked. Only a new
        invitation brings you back.
      </p>
    </ConfirmDialog>
  )
}

type DeleteProps = { name: string; hasPassword: boolean; underWay: string }

/** What will happen stands above the button, and the button wants the name. */
export function DeleteWorkspace({ name, hasPassword, underWay }: DeleteProps) {
  return (
    <ActionForm action={deleteWorkspace} submit="Delete the workspace" submitTone="danger">
      <ul className="list-disc space-y-1 pl-5 text-ink-soft text-sm">
        <li>From now on no token is issued and no byte accepted. {underWay}</li>
        <li>For seven days everything stays, and any owner can bring it back here.</li>
        <li>
          Then Pipes, Senders, tokens and keys end, uploads in progress are canceled, and the records of files
          and webhooks are erased.
        </li>
        <li>The objects in your buckets are yours. They are not touched.</li>
      </ul>
      <TypeToConfirm name="name" text={name} />
      {hasPassword && <PasswordField className="max-w-sm" />}
    </ActionForm>
  )
}

export function RestoreWorkspace() {
  return <ActionForm action={restoreWorkspace} submit="Bring it back" />
}
