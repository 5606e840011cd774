'use client'

import { savePassword } from '#app/dashboard/settings/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'

export function PasswordForm({ hasPassword, email }: { hasPassword: boolean; email: string }) {
  return (
    <ActionForm
      action={savePassword}
      submit={hasPassword ? 'Change password' : 'Set a password'}
      submitTone="plain"
      resetOnDone
      className="flex max-w-sm flex-col gap-4"
    >
      <input type="hidden" name="username" value={email} autoComplete="username" />
      {hasPassword && (
        <TextField name="current" label="Current password" type="password" autoComplete="current-password" />
      )}
      <TextField
        name="password"
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 10 characters."
      />
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" name="revokeKeys" className="size-4 accent-(--water)" />
        Revoke every account key too
      </label>
    </ActionForm>
  )
}
