'use client'

import { Stethoscope } from 'lucide-react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { check, remove } from './actions.ts'

export function CheckNow({ id }: { id: string }) {
  return (
    <ActionForm
      right="operate"
      action={check.bind(null, id)}
      submit="Check now"
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
