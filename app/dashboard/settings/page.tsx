import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../session.ts'
import { PasswordForm, ProfileForm, VerifyNotice } from './forms.tsx'

export const metadata = { title: 'Profile' }

export default async function Profile() {
  const { email, name, emailVerified, hasPassword } = await requireSession('see')
  return (
    <div className="max-w-2xl space-y-5">
      {!emailVerified && <VerifyNotice email={email} sendsMail={Boolean(getRuntime().config.smtpUrl)} />}
      <Panel title="Profile">
        <ProfileForm email={email} name={name ?? ''} />
      </Panel>
      <Panel title="Password" description="Changing it signs out every other session.">
        <PasswordForm hasPassword={hasPassword} email={email} />
      </Panel>
    </div>
  )
}
