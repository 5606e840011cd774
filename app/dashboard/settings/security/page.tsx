import { plural } from '#components/format.ts'
import { DisableFactor, SetUpFactor } from '#components/people/factor-forms.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { countRecoveryCodes } from '#lib/identity/accounts/second-factor.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'

export const metadata = { title: 'Security' }

export default async function Security() {
  const { userId, hasPassword, hasSecondFactor } = await requireSession('see')
  const left = hasSecondFactor ? await countRecoveryCodes(getRuntime(), userId) : 0
  return (
    <Panel
      className="max-w-2xl"
      title="Second factor"
      description={
        hasSecondFactor
          ? `Every sign-in needs a code of your authenticator. ${plural(left, 'recovery code')} left.`
          : 'A code of an authenticator, asked for at every sign-in, by password, link or provider. Every other session needs it, too.'
      }
    >
      {hasSecondFactor ? <DisableFactor /> : <SetUpFactor hasPassword={hasPassword} />}
    </Panel>
  )
}
