'use client'

import { ActionForm } from '#components/ui/action-form.tsx'
import { CheckField, SelectField, TextField } from '#components/ui/field.tsx'
import { create } from './actions.ts'

type CreateProps = { stores: { id: string; label: string }[]; chosen: string | undefined }

export function CreatePipe({ stores, chosen }: CreateProps) {
  return (
    <ActionForm action={create} submit="Create Pipe">
      <TextField name="name" label="Name" placeholder="Video uploads" maxLength={100} autoFocus />
      <SelectField
        name="dataStoreId"
        label="Data Store"
        hint="Where the Pipe's files go."
        defaultValue={chosen}
        options={stores.map(({ id, label }) => [id, label])}
      />
      <CheckField
        name="sourceHttp"
        label="Switch on its HTTP (TUS) source"
        hint="The Pipe then accepts uploads once its bucket is ready. You can change this at any time."
        defaultChecked
      />
    </ActionForm>
  )
}
