'use client'

import type { ReactNode } from 'react'
import { join } from '#app/(auth)/actions.ts'
import { signOut } from '#app/actions/sign-out.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { LinkToken } from './link-token.tsx'

/** By a button, since mail programs open links to look at them. */
export function Invitation({ email, providers }: { email: string | undefined; providers: ReactNode }) {
  return email === undefined ? <JoinAsGuest providers={providers} /> : <JoinSignedIn email={email} />
}

function JoinSignedIn({ email }: { email: string }) {
  return (
    <>
      <p className="mb-6 text-ink-soft text-sm">
        You are signed in as <strong className="font-semibold text-ink">{email}</strong>. The invitation is
        for the address that it was sent to, and for no other.
      </p>
      <ActionForm action={join} submit="Accept the invitation">
        <LinkToken />
      </ActionForm>
      <form action={signOut} className="mt-6">
        <Button type="submit" tone="quiet" size="sm">
          Sign out, to accept it as somebody else
        </Button>
      </form>
    </>
  )
}

function JoinAsGuest({ providers }: { providers: ReactNode }) {
  return (
    <>
      <p className="mb-6 text-ink-soft text-sm">
        If the invited address already has an account here, sign in to it. If not, choose a password to create
        the account.
      </p>
      {providers}
      <ActionForm action={join} submit="Accept the invitation">
        <LinkToken />
        <TextField
          name="password"
          label="Password"
          type="password"
          autoComplete="current-password"
          hint="That of your account, or a new one of at least 10 characters."
          required
        />
        <TextField
          name="name"
          label="Your name"
          autoComplete="name"
          optional
          maxLength={100}
          hint="For a new account."
        />
      </ActionForm>
    </>
  )
}
