'use client'

import Link from 'next/link'
import { type ReactNode, useEffect, useRef } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { EmailField, NewPasswordField, PasswordField, TextField } from '#components/ui/field.tsx'
import { Done, Notice } from '#components/ui/notice.tsx'
import { signOut } from '../(person)/sign-out.ts'
import { askForReset, enter, join, register, setNewPassword, verify } from './actions.ts'

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
      <EmailField autoFocus required />
      <PasswordField label="Password" required />
    </ActionForm>
  )
}

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
      <EmailField autoFocus required />
      <NewPasswordField
        label="Password"
        hint="At least 10 characters. Several words make a good password."
        required
      />
    </ActionForm>
  )
}

export function ForgotPasswordForm({ sendsMail }: { sendsMail: boolean }) {
  return (
    <ActionForm<'sent'>
      action={askForReset}
      submit={sendsMail ? 'Send the link' : 'Create a link'}
      instead={() =>
        sendsMail ? (
          <Notice tone="good" title="If this address has an account, an email is on its way">
            Check your inbox and your junk folder.
          </Notice>
        ) : (
          <Notice tone="info" title="This server does not send email">
            If this address has an account, your administrator can now give you the link.
          </Notice>
        )
      }
    >
      <EmailField autoFocus required />
    </ActionForm>
  )
}

export function ResetPasswordForm() {
  return (
    <ActionForm<'changed'>
      action={setNewPassword}
      submit="Set password"
      instead={() => (
        <Done title="Your password was changed" goOn="Go to the dashboard">
          You are signed in here, and signed out everywhere else.
        </Done>
      )}
    >
      <LinkToken />
      <NewPasswordField autoFocus required />
    </ActionForm>
  )
}

/** Requires a click, because email programs open links to inspect them. */
export function VerifyEmail() {
  return (
    <ActionForm<string>
      action={verify}
      submit="Verify my address"
      instead={(email) => (
        <Done title="Email address verified" goOn="Continue">
          {email} is now verified.
        </Done>
      )}
    >
      <LinkToken />
      <PasswordField
        label="Password"
        hint="The password you signed up with. Leave it empty if you used GitHub or Google."
      />
    </ActionForm>
  )
}

/** Requires a click, because email programs open links to inspect them. */
export function Invitation({ email, providers }: { email: string | undefined; providers: ReactNode }) {
  return email === undefined ? <JoinAsGuest providers={providers} /> : <JoinSignedIn email={email} />
}

function JoinSignedIn({ email }: { email: string }) {
  return (
    <>
      <p className="mb-6 text-ink-soft text-sm">
        You are signed in as <strong className="font-semibold text-ink">{email}</strong>. The invitation is
        only valid for the address it was sent to.
      </p>
      <ActionForm action={join} submit="Accept the invitation">
        <LinkToken />
      </ActionForm>
      <form action={signOut} className="mt-6">
        <Button type="submit" tone="quiet" size="sm">
          Sign out and accept as someone else
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
        <PasswordField
          label="Password"
          hint="Your account's password, or a new one of at least 10 characters."
          required
        />
        <TextField
          name="name"
          label="Your name"
          autoComplete="name"
          optional
          maxLength={100}
          hint="Only used if an account is created."
        />
      </ActionForm>
    </>
  )
}

/**
 * The token from an email link. It follows the #, so no server sees or logs it. A script reads it; without JavaScript,
 * the user pastes the link.
 */
export function LinkToken() {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current) input.current.value = window.location.hash.slice(1)
  })
  return (
    <>
      <input ref={input} type="hidden" name="link" />
      <noscript>
        <TextField name="link" label="The link from the email" mono />
      </noscript>
    </>
  )
}
