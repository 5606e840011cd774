'use client'

import { revokeIssued } from '#app/dashboard/senders/actions.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

export function RevokeToken({ id }: { id: string }) {
  return (
    <ConfirmDialog
      trigger={
        <Button tone="quiet" size="sm" className="relative">
          Revoke
        </Button>
      }
      title="Revoke this token"
      confirm="Revoke"
      action={revokeIssued.bind(null, id)}
    >
      <p>
        It ends at once, for uploads under way too. They can go on with a fresh token of the same Sender and
        subject.
      </p>
    </ConfirmDialog>
  )
}
