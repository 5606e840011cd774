'use client'

import { setNewPassword } from '#app/(auth)/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { ButtonLink } from '../ui/button-link.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { LinkToken } from './link-token.tsx'

export function ResetPasswordForm() {
  return (
    <ActionForm<'changed'>
      action={setNewPassword}
      submit="Set password"
      instead={() => (
        <Notice
          tone="good"
          title="Your password was changed"
          action={
            <ButtonLink href="/dashboard" tone="primary">
              Go to the dashboard
            </ButtonLink>
          }
        >
          You are signed in here, and nowhere else.
        </Notice>
      )}
    >
      <LinkToken />
      <TextField
        name="password"
        label="New password"
        type="password"
        autoComplete="new-password"
        hint="At least 10 characters."
        autoFocus
        required
      />
    </ActionForm>
  )
}
