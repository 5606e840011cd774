'use client'

import { Send } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useTransition } from 'react'
import { sendTest } from '#app/dashboard/webhooks/actions.ts'
import { Button } from '../ui/button.tsx'
import { notify } from '../ui/toaster.tsx'

/** Opens the log at the test, so that what comes back is seen as it comes. */
export function SendTest({ pipeId }: { pipeId: string }) {
  const router = useRouter()
  const [busy, start] = useTransition()
  const send = () =>
    start(async () => {
      const answer = await sendTest(pipeId)
      if (answer.status === 'error') notify.failed(answer.message)
      if (answer.status === 'done') router.push(`/dashboard/webhooks?delivery=${answer.data?.deliveryId}`)
    })
  return (
    <Button busy={busy} onClick={send}>
      {!busy && <Send aria-hidden />}
      Send a test
    </Button>
  )
}
