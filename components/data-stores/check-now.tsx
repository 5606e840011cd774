'use client'

import { Stethoscope } from 'lucide-react'
import { check } from '#app/dashboard/data-stores/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'

export function CheckNow({ id }: { id: string }) {
  return (
    <ActionForm
      right="operate"
      action={check.bind(null, id)}
      submit="Check now"
      submitTone="plain"
      icon={<Stethoscope aria-hidden />}
    />
  )
}
