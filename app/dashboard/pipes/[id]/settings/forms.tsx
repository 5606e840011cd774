'use client'

import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { remove, save } from './actions.ts'

export function PipeSettings({ pipe }: { pipe: Pipe }) {
  return (
    <ActionForm right="build" action={save.bind(null, pipe.id)} submit="Save" width="md">
      <TextField name="name" label="Name" defaultValue={pipe.name} maxLength={100} />
    </ActionForm>
  )
}

type DeleteProps = { id: string; name: string; underWay: number }

export function DeletePipe({ id, name, underWay }: DeleteProps) {
  return (
    <IfMay right="build">
      <Panel
        tone="danger"
        title="Danger zone"
        description="Deleting a Pipe closes its endpoint immediately, and its tokens stop working."
        aside={
          <ConfirmDialog
            trigger={<Button tone="danger">Delete Pipe…</Button>}
            title={`Delete ${name}`}
            name={name}
            confirm="Delete this Pipe"
            action={remove.bind(null, id)}
          >
            <ul className="list-disc space-y-1 pl-5">
              <li>
                {underWay === 0 ? (
                  'No uploads in progress.'
                ) : (
                  <strong className="text-ink">
                    {plural(underWay, 'upload')} in progress will be canceled.
                  </strong>
                )}
              </li>
              <li>Its endpoint responds with 404, and its tokens stop working.</li>
              <li>Its webhook output is deleted, along with undelivered webhooks.</li>
              <li>File records are kept. Objects in your bucket are not touched.</li>
            </ul>
          </ConfirmDialog>
        }
      />
    </IfMay>
  )
}
