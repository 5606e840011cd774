'use client'

import { revoke } from '#app/dashboard/senders/actions.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Panel } from '../ui/panel.tsx'
import { IfMay } from '../ui/rights.tsx'

export function RevokeSender({ id, name }: { id: string; name: string }) {
  return (
    <IfMay right="build">
      <Panel
        tone="danger"
        title="Revoke"
        description="Immediate and permanent. Every temporary token that it issued is revoked, too, even for uploads under way."
        aside={
          <ConfirmDialog
            trigger={<Button tone="danger">Revoke…</Button>}
            title={`Revoke ${name}`}
            name={name}
            confirm="Revoke this Sender"
            action={revoke.bind(null, id)}
          >
            <p>
              Backends that use its token get 401 from now on. Uploads under way with its tokens stop where
              they are.
            </p>
          </ConfirmDialog>
        }
      >
        {null}
      </Panel>
    </IfMay>
  )
}
