import { refusalText } from '#app/(auth)/provider-buttons.tsx'
import { DisableFactor, SetUpFactor } from '#app/(person)/second-factor/forms.tsx'
import { plural } from '#components/format.ts'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { listProviders } from '#lib/identity/accounts/providers.ts'
import { countRecoveryCodes } from '#lib/identity/accounts/second-factor.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import { readSearch, type Search } from '../../page-query.ts'
import { ProviderList } from './provider-list.tsx'

export const metadata = { title: 'Security' }

export default async function Security({ searchParams }: { searchParams: Search }) {
  const { userId, hasPassword, hasSecondFactor } = await requireSession('see')
  const { error } = await readSearch(searchParams)
  const left = hasSecondFactor ? await countRecoveryCodes(getRuntime(), userId) : 0
  const providers = await listProviders(getRuntime(), userId)
  return (
    <div className="max-w-2xl space-y-5">
      {error && <Notice tone="bad">{refusalText(error)}</Notice>}
      <Panel
        title="Second factor"
        description={
          hasSecondFactor
            ? `Every sign-in needs a code from your authenticator. ${plural(left, 'recovery code')} left.`
            : 'Once this is set up, every sign-in, by password, link or provider, requires a code from an authenticator app. You will also have to enter one in your other sessions.'
        }
      >
        {hasSecondFactor ? <DisableFactor /> : <SetUpFactor hasPassword={hasPassword} />}
      </Panel>
      {providers.length > 0 && (
        <Panel title="Sign-in providers" description="Other ways to sign in to this account." flush>
          <ProviderList providers={providers} hasPassword={hasPassword} />
        </Panel>
      )}
    </div>
  )
}
