import { ActionForm } from '#components/ui/action-form.tsx'
import { NewPasswordField, PasswordField, TextField } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../session.ts'
import { savePassword, saveProfile, sendVerification } from './actions.ts'

export const metadata = { title: 'Profile' }

export default async function Profile() {
  const { email, name, emailVerified, hasPassword } = await requireSession('see')
  return (
    <div className="max-w-2xl space-y-5">
      {!emailVerified && <VerifyNotice email={email} />}
      <Panel title="Profile">
        <ActionForm action={saveProfile} submit="Save" submitTone="plain" width="sm">
          <TextField name="name" label="Name" defaultValue={name ?? ''} autoComplete="name" maxLength={100} />
          <TextField name="email" label="Email" value={email} readOnly disabled />
        </ActionForm>
      </Panel>
      <Panel title="Password" description="Changing it signs out every other session.">
        <ActionForm
          action={savePassword}
          submit={hasPassword ? 'Change password' : 'Set a password'}
          submitTone="plain"
          resetOnDone
          width="sm"
        >
          <input type="hidden" name="username" value={email} autoComplete="username" />
          {hasPassword && <PasswordField name="current" label="Current password" />}
          <NewPasswordField />
          <label className="flex items-center gap-2 text-sm">
            <input type="checkbox" name="revokeKeys" className="size-4 accent-(--water)" />
            Also revoke every account key
          </label>
        </ActionForm>
      </Panel>
    </div>
  )
}

function VerifyNotice({ email }: { email: string }) {
  const sendsMail = Boolean(getRuntime().config.smtpUrl)
  return (
    <Notice
      tone="warn"
      title="Your email address is not verified yet"
      action={
        <ActionForm
          action={sendVerification}
          submit={sendsMail ? 'Send the link again' : 'Create a new link'}
          submitSize="sm"
        />
      }
    >
      {sendsMail
        ? `We sent a link to ${email}. It is valid for two days.`
        : `This server does not send email. Ask your administrator for the link for ${email}.`}
    </Notice>
  )
}
