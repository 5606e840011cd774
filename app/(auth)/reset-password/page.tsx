import { ButtonLink } from '#components/ui/button-link.tsx'
import { ResetPasswordForm } from '../forms.tsx'
import { WithLink } from '../with-link.tsx'

export const metadata = { title: 'Set a new password' }

export default function ResetPassword() {
  return (
    <>
      <h1 className="mb-6 font-semibold text-2xl tracking-[-0.02em]">Set a new password</h1>
      <WithLink next={<ButtonLink href="/forgot-password">Request a new link</ButtonLink>}>
        <ResetPasswordForm />
      </WithLink>
    </>
  )
}
