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
        <Notice tone="good" title="Check your inbox">
          We have sent you a link. Open it, then sign in.
        </Notice>
      )}
    >
      <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus required />
      <TextField
        name="password"
        label="Password"
        type="password"
        autoComplete="new-password"
        hint="At least 10 characters. Several words make a good password."
        required
      />
    </ActionForm>
  )
}
