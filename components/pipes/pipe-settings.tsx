'use client'

import { save } from '#app/dashboard/pipes/actions.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { SelectField, TextField } from '../ui/field.tsx'

type Props = { pipe: Pipe; stores: { id: string; label: string }[] }

export function PipeSettings({ pipe, stores }: Props) {
  return (
    <ActionForm
      right="build"
      action={save.bind(null, pipe.id)}
      submit="Save"
      className="flex max-w-md flex-col gap-4"
    >
      <TextField name="name" label="Name" defaultValue={pipe.name} maxLength={100} />
      <SelectField
        name="dataStoreId"
        label="Data Store"
        defaultValue={pipe.dataStoreId}
        hint="Uploads under way stay with the bucket they began with."
      >
        {stores.map(({ id, label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </SelectField>
    </ActionForm>
  )
}
