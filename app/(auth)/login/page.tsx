import { redirect } from 'next/navigation'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { isDemoLocal } from '#lib/dashboard/demo/local-demo.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readSearch, type Search } from '../../dashboard/page-query.ts'
import { sessionIfKnown } from '../../session.ts'
import { openDemo } from '../actions.ts'
import { SignInForm } from '../forms.tsx'
import { ownPath } from '../own-path.ts'
import { ProviderButtons, refusalText } from '../provider-buttons.tsx'

export const metadata = { title: 'Sign in' }

export default async function Login({ searchParams }: { searchParams: Search }) {
  const { next, error } = await readSearch(searchParams)
  // A signed-in user only lands here if connecting a provider has failed.
  if (await sessionIfKnown())
    redirect(error ? `/dashboard/settings/security?error=${encodeURIComponent(error)}` : '/dashboard')
  const { config } = getRuntime()
  return (
    <>
      <h1 className="mb-6 font-semibold text-2xl tracking-[-0.02em]">Sign in</h1>
      {error && (
        <Notice tone="bad" className="mb-5">
          {refusalText(error)}
        </Notice>
      )}
      <ProviderButtons next={ownPath(next ?? '/dashboard')} />
      <SignInForm next={next ?? '/dashboard'} />
      {config.signUp === 'open' && (
        <p className="mt-6 text-ink-soft text-sm">
          New here?{' '}
          <TextLink href="/sign-up" className="font-medium">
            Create an account
          </TextLink>
        </p>
      )}
      {isDemoLocal(config) && (
        <Notice
          tone="info"
          className="mt-8"
          title="There is a demo workspace"
          action={<ActionForm action={openDemo} submit="Open the demo" />}
        >
          Only this machine can open it without a password.
        </Notice>
      )}
    </>
  )
}
