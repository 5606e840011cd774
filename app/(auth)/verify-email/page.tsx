import { ButtonLink } from '#components/ui/button-link.tsx'
import { VerifyEmail } from '../forms.tsx'
import { WithLink } from '../with-link.tsx'

export const metadata = { title: 'Verify your email address' }

export default function VerifyEmailPage() {
  return (
    <>
      <h1 className="mb-6 font-semibold text-2xl tracking-[-0.02em]">Verify your email address</h1>
      <WithLink next={<ButtonLink href="/dashboard/settings">Request a new link in Settings</ButtonLink>}>
        <VerifyEmail />
      </WithLink>
    </>
  )
}
