'use client'

import { remove } from '#app/dashboard/pipes/actions.ts'
import { plural } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Panel } from '../ui/panel.tsx'
import { IfMay } from '../ui/rights.tsx'

type Props = { id: string; name: string; underWay: number }

export function DeletePipe({ id, name, underWay }: Props) {
  return (
    <IfMay right="build">
      <Panel
        tone="danger"
        title="Danger zone"
        description="Deleting a Pipe closes its endpoint at once and ends its tokens."
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
                  'No upload is under way.'
                ) : (
                  <strong className="text-ink">
                    {plural(underWay, 'upload')} under way will be canceled.
                  </strong>
                )}
              </li>
              <li>Its endpoint responds with 404, and its tokens stop working.</li>
              <li>Its webhook output is deleted, along with undelivered webhooks.</li>
              <li>Files keep their record. Objects in your bucket are not touched.</li>
            </ul>
          </ConfirmDialog>
        }
      >
        {null}
      </Panel>
    </IfMay>
  )
}
