import { redirect } from 'next/navigation'
import { Notice } from '#components/ui/notice.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { sessionIfKnown } from '../../session.ts'
import { SignUpForm } from '../forms.tsx'
import { ProviderButtons } from '../provider-buttons.tsx'

export const metadata = { title: 'Create an account' }

export default async function SignUp() {
  if (await sessionIfKnown()) redirect('/dashboard')
  const open = getRuntime().config.signUp === 'open'
  return (
    <>
      <h1 className="font-semibold text-2xl tracking-[-0.02em]">Create an account</h1>
      <p className="mt-1 mb-6 text-ink-soft text-sm">Free. No credit card required.</p>
      {open ? (
        <>
          <ProviderButtons next="/dashboard" />
          <SignUpForm />
        </>
      ) : (
        <Notice tone="info" title="Sign-up is disabled on this server">
          Ask your administrator for an account.
        </Notice>
      )}
      <p className="mt-6 text-ink-soft text-sm">
        Already have an account?{' '}
        <TextLink href="/login" className="font-medium">
          Sign in
        </TextLink>
      </p>
    </>
  )
}
