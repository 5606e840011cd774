'use client'

import { sendVerification } from '#app/dashboard/settings/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Notice } from '../ui/notice.tsx'

export function VerifyNotice({ email, sendsMail }: { email: string; sendsMail: boolean }) {
  return (
    <Notice
      tone="warn"
      title="Your e-mail address is not verified yet"
      action={
        <ActionForm
          action={sendVerification}
          submit={sendsMail ? 'Send the link again' : 'Make a new link'}
          submitTone="plain"
          submitSize="sm"
        />
      }
    >
      {sendsMail
        ? `We sent a link to ${email}. It is valid for two days.`
        : `This installation sends no mail. The link for ${email} is kept where it runs: ask whoever runs it.`}
    </Notice>
  )
}
