'use client'

import { rename } from '#app/dashboard/senders/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'
import { Panel } from '../ui/panel.tsx'

export function RenameSender({ id, name }: { id: string; name: string }) {
  return (
    <Panel title="Name">
      <ActionForm right="build" action={rename.bind(null, id)} submit="Save" submitTone="plain">
        <TextField
          name="name"
          label="Name"
          defaultValue={name}
          maxLength={100}
          className="max-w-sm"
          hint="Existing files keep the old name."
        />
      </ActionForm>
    </Panel>
  )
}
