'use client'

import { Stethoscope } from 'lucide-react'
import { useTransition } from 'react'
import { check } from '#app/dashboard/data-stores/actions.ts'
import { Button } from '../ui/button.tsx'
import { notify } from '../ui/toaster.tsx'

export function CheckNow({ id }: { id: string }) {
  const [busy, start] = useTransition()
  const run = () =>
    start(async () => {
      const answer = await check(id)
      if (answer.status === 'error') notify.failed(answer.message)
    })
  return (
    <Button busy={busy} onClick={run}>
      {!busy && <Stethoscope aria-hidden />}
      {busy ? 'Checking…' : 'Check now'}
    </Button>
  )
}
