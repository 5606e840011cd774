'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { NewPasswordField, PasswordField, TextField } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { savePassword, saveProfile, sendVerification } from './actions.ts'

export function VerifyNotice({ email, sendsMail }: { email: string; sendsMail: boolean }) {
  return (
    <Notice
      tone="warn"
      title="Your email address is not verified yet"
      action={
        <ActionForm
          action={sendVerification}
          submit={sendsMail ? 'Send the link again' : 'Create a new link'}
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
