'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { TextField } from '#components/ui/field.tsx'
import { create, open } from './actions.ts'

export function OpenWorkspace({ id, name }: { id: string; name: string }) {
  return (
    <ActionForm
      action={open.bind(null, id)}
      className="flex"
      submit="Open"
      about={` ${name}`}
      submitSize="sm"
    />
  )
}

export function CreateWorkspace() {
  return (
    <ActionForm action={create} submit="Create" submitTone="plain">
      <TextField name="name" label="Name" maxLength={100} autoComplete="organization" />
    </ActionForm>
  )
}
