'use client'

import { useTransition } from 'react'
import { sendVerification } from '#app/dashboard/settings/actions.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { notify } from '../ui/toaster.tsx'

export function VerifyNotice({ email, sendsMail }: { email: string; sendsMail: boolean }) {
  const [busy, start] = useTransition()
  const send = () =>
    start(async () => {
      const answer = await sendVerification()
      if (answer.status === 'done') notify.done(answer.message ?? '')
      if (answer.status === 'error') notify.failed(answer.message)
    })
  return (
    <Notice
      tone="warn"
      title="Your e-mail address is not verified yet"
      action={
        <Button size="sm" busy={busy} onClick={send}>
          {sendsMail ? 'Send the link again' : 'Make a new link'}
        </Button>
      }
    >
      {sendsMail
        ? `We sent a link to ${email}. It is good for two days.`
        : `This installation sends no mail. The link for ${email} is kept where it runs: ask whoever runs it.`}
    </Notice>
  )
}
