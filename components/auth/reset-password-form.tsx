'use client'

import { useState } from 'react'
import { setNewPassword } from '#app/(auth)/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { ButtonLink } from '../ui/button-link.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'

export function ResetPasswordForm() {
  const [changed, setChanged] = useState(false)
  if (changed) {
    return (
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
    )
  }
  return (
    <ActionForm<'changed'>
      action={(data) => setNewPassword(window.location.hash.slice(1), data)}
      submit="Set password"
      onDone={() => setChanged(true)}
    >
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
