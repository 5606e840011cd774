'use client'

import { register } from '#app/(auth)/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'

export function SignUpForm() {
  return (
    <ActionForm<'check-mail'>
      action={register}
      submit="Create account"
      instead={() => (
        <Notice tone="good" title="Look into your mailbox">
          There is a mail with a link. Open it, then sign in.
        </Notice>
      )}
    >
      <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus required />
      <TextField
        name="password"
        label="Password"
        type="password"
        autoComplete="new-password"
        hint="At least 10 characters. A few words in a row are good."
        required
      />
    </ActionForm>
  )
}
