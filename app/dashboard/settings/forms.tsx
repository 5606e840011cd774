'use client'

import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { NewPasswordField, PasswordField, TextField, TypeToConfirm } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import {
  endOtherSessions,
  endSession,
  removeAccount,
  savePassword,
  saveProfile,
  sendVerification,
} from './actions.ts'

export function VerifyNotice({ email, sendsMail }: { email: string; sendsMail: boolean }) {
  return (
    <Notice
      tone="warn"
      title="Your email address is not verified yet"
      action={
        <ActionForm
          action={sendVerification}
          submit={sendsMail ? 'Send the link again' : 'Create a new link'}
          submitTone="plain"
          submitSize="sm"
        />
      }
    >
      {sendsMail
        ? `We sent a link to ${email}. It is valid for two days.`
        : `This server does not send email. Ask your administrator for the link for ${email}.`}
    </Notice>
  )
}

export function ProfileForm({ email, name }: { email: string; name: string }) {
  return (
    <ActionForm action={saveProfile} submit="Save" submitTone="plain" width="sm">
      <TextField name="name" label="Name" defaultValue={name} autoComplete="name" maxLength={100} />
      <TextField name="email" label="Email" value={email} readOnly disabled />
    </ActionForm>
  )
}

export function PasswordForm({ hasPassword, email }: { hasPassword: boolean; email: string }) {
  return (
    <ActionForm
      action={savePassword}
      submit={hasPassword ? 'Change password' : 'Set a password'}
      submitTone="plain"
      resetOnDone
      width="sm"
    >
      <input type="hidden" name="username" value={email} autoComplete="username" />
      {hasPassword && <PasswordField name="current" label="Current password" />}
      <NewPasswordField />
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" name="revokeKeys" className="size-4 accent-(--water)" />
        Also revoke every account key
      </label>
    </ActionForm>
  )
}

type Props = { email: string; hasPassword: boolean; underWay: number }

/** Lists the consequences above the button, and requires the user to type the account's address. */
export function DeleteAccount({ email, hasPassword, underWay }: Props) {
  return (
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
      <TypeToConfirm name="email" text={email} />
      {hasPassword && <PasswordField className="max-w-sm" />}
    </ActionForm>
  )
}

export function EndSession({ id }: { id: string }) {
  return (
    <ConfirmDialog
      trigger={
        <Button tone="quiet" size="sm">
          Sign out
        </Button>
      }
      title="Sign out this session"
      confirm="Sign out"
      action={endSession.bind(null, id)}
    >
      <p>Anyone using it must sign in again.</p>
    </ConfirmDialog>
  )
}

export function EndOtherSessions() {
  return (
    <ConfirmDialog
      trigger={<Button>Sign all others out…</Button>}
      title="Sign out all other sessions"
      confirm="Sign all others out"
      action={endOtherSessions}
    >
      <p>Only this browser stays signed in.</p>
    </ConfirmDialog>
  )
}
