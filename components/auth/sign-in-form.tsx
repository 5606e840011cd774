'use client'

import Link from 'next/link'
import { enter } from '#app/(auth)/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'

export function SignInForm({ next }: { next: string }) {
  return (
    <ActionForm
      action={enter.bind(null, next)}
      submit="Sign in"
      aside={
        <Link
          href="/forgot-password"
          className="ml-auto text-ink-soft text-sm hover:text-ink hover:underline"
        >
          Forgot your password?
        </Link>
      }
    >
      <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus required />
      <TextField name="password" label="Password" type="password" autoComplete="current-password" required />
    </ActionForm>
  )
}
