'use client'

import { verify } from '#app/(auth)/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { ButtonLink } from '../ui/button-link.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { LinkToken } from './link-token.tsx'

/** By a button, since mail programs open links to look at them. */
export function VerifyEmail() {
  return (
    <ActionForm<string>
      action={verify}
      submit="Verify my address"
      instead={(email) => (
        <Notice
          tone="good"
          title="Verified"
          action={
            <ButtonLink href="/dashboard" tone="primary">
              Go on
            </ButtonLink>
          }
        >
          {email} is yours.
        </Notice>
      )}
    >
      <LinkToken />
      <TextField
        name="password"
        label="Password"
        type="password"
        autoComplete="current-password"
        hint="The one you signed up with. Leave it empty if you used GitHub or Google."
      />
    </ActionForm>
  )
}
