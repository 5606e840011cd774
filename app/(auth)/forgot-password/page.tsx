import Link from 'next/link'
import { getRuntime } from '#lib/platform/runtime.ts'
import { ForgotPasswordForm } from '../forms.tsx'

export const metadata = { title: 'Set a new password' }

export default function ForgotPassword() {
  const sendsMail = Boolean(getRuntime().config.smtpUrl)
  return (
    <>
      <h1 className="font-semibold text-2xl tracking-[-0.02em]">Forgot your password?</h1>
      <p className="mt-1 mb-6 text-ink-soft text-sm">
        {sendsMail
          ? 'We will send a link to your address. It is valid for an hour.'
          : 'This server does not send email. It creates a link, valid for an hour, that your administrator can give you.'}
      </p>
      <ForgotPasswordForm sendsMail={sendsMail} />
      <p className="mt-6 text-sm">
        <Link href="/login" className="text-ink-soft hover:text-ink hover:underline">
          Back to sign-in
        </Link>
      </p>
    </>
  )
}
