'use client'

import { revokeKey } from '#app/dashboard/settings/actions.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

export function RevokeKey({ id, name }: { id: string; name: string }) {
  return (
    <ConfirmDialog
      trigger={
        <Button tone="quiet" size="sm">
          Revoke
        </Button>
      }
      title={`Revoke ${name}`}
      confirm="Revoke"
      action={revokeKey.bind(null, id)}
    >
      <p>Programs that use it get 401 from now on. It cannot be undone.</p>
    </ConfirmDialog>
  )
}
