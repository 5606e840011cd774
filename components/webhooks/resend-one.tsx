'use client'

import { RotateCw } from 'lucide-react'
import { resend } from '#app/dashboard/webhooks/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'

export function ResendOne({ id }: { id: string }) {
  return (
    <ActionForm
      right="operate"
      action={resend.bind(null, id)}
      submit="Resend"
      submitTone="plain"
      icon={<RotateCw aria-hidden />}
    />
  )
}
