import { VerifyEmail } from '#components/auth/verify-email.tsx'

export const metadata = { title: 'Verify your e-mail address' }

export default function VerifyEmailPage() {
  return (
    <>
      <h1 className="mb-6 font-semibold text-2xl tracking-[-0.02em]">Verify your e-mail address</h1>
      <VerifyEmail />
    </>
  )
}
