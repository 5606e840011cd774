'use client'

import { RotateCw } from 'lucide-react'
import { useTransition } from 'react'
import { resend } from '#app/dashboard/webhooks/actions.ts'
import { Button } from '../ui/button.tsx'
import { notify } from '../ui/toaster.tsx'

export function ResendOne({ id }: { id: string }) {
  const [busy, start] = useTransition()
  const send = () =>
    start(async () => {
      const answer = await resend(id)
      if (answer.status === 'error') notify.failed(answer.message)
      if (answer.status === 'done') notify.done(answer.message ?? '')
    })
  return (
    <Button busy={busy} onClick={send}>
      {!busy && <RotateCw aria-hidden />}
      Resend
    </Button>
  )
}
