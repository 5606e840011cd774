'use client'

import { saveProfile } from '#app/dashboard/settings/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'

export function ProfileForm({ email, name }: { email: string; name: string }) {
  return (
    <ActionForm
      action={saveProfile}
      submit="Save"
      submitTone="plain"
      className="flex max-w-sm flex-col gap-4"
    >
      <TextField name="name" label="Name" defaultValue={name} autoComplete="name" maxLength={100} />
      <TextField name="email" label="E-mail" value={email} readOnly disabled />
    </ActionForm>
  )
}
