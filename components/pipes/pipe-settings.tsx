'use client'

import { save } from '#app/dashboard/pipes/actions.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'

export function PipeSettings({ pipe }: { pipe: Pipe }) {
  return (
    <ActionForm
      right="build"
      action={save.bind(null, pipe.id)}
      submit="Save"
      className="flex max-w-md flex-col gap-4"
    >
      <TextField name="name" label="Name" defaultValue={pipe.name} maxLength={100} />
    </ActionForm>
  )
}
