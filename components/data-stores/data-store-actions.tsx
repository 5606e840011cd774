'use client'

import { Stethoscope } from 'lucide-react'
import { check, remove } from '#app/dashboard/data-stores/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Panel } from '../ui/panel.tsx'
import { IfMay } from '../ui/rights.tsx'

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

export function DeleteDataStore({ id, name }: { id: string; name: string }) {
  return (
    <IfMay right="administer">
      <Panel
        tone="danger"
        title="Delete"
        description="Sluice removes the Data Store and erases its keys. Your bucket and its objects are not touched."
        aside={
          <ConfirmDialog
            trigger={<Button tone="danger">Delete…</Button>}
            title={`Delete ${name}`}
            name={name}
            confirm="Delete this Data Store"
            action={remove.bind(null, id)}
          >
            <p>Sluice erases its keys. File records are kept, and the objects stay in your bucket.</p>
            <p>A Data Store cannot be deleted while a Pipe uses it.</p>
          </ConfirmDialog>
        }
      />
    </IfMay>
  )
}
