'use client'

import { create } from '#app/dashboard/pipes/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { CheckField, SelectField, TextField } from '../ui/field.tsx'

type Props = { stores: { id: string; label: string }[]; chosen: string | undefined }

export function CreatePipe({ stores, chosen }: Props) {
  return (
    <ActionForm action={create} submit="Create Pipe">
      <TextField name="name" label="Name" placeholder="Video uploads" maxLength={100} autoFocus />
      <SelectField name="dataStoreId" label="Data Store" hint="Where its files go." defaultValue={chosen}>
        {stores.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </SelectField>
      <CheckField
        name="sourceHttp"
        label="Switch on its HTTP (TUS) source"
        hint="It then accepts uploads at once. You can change this at any time."
        defaultChecked
      />
    </ActionForm>
  )
}
