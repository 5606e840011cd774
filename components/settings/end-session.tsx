'use client'

import { endOtherSessions, endSession } from '#app/dashboard/settings/actions.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

export function EndSession({ id }: { id: string }) {
  return (
    <ConfirmDialog
      trigger={
        <Button tone="quiet" size="sm">
          Sign out
        </Button>
      }
      title="Sign this session out"
      confirm="Sign out"
      action={endSession.bind(null, id)}
    >
      <p>Whoever uses it must sign in again.</p>
    </ConfirmDialog>
  )
}

export function EndOtherSessions() {
  return (
    <ConfirmDialog
      trigger={<Button>Sign all others out…</Button>}
      title="Sign every other session out"
      confirm="Sign all others out"
      action={endOtherSessions}
    >
      <p>Only this browser stays signed in.</p>
    </ConfirmDialog>
  )
}
