'use client'

import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { endOtherSessions, endSession } from './actions.ts'

export function EndSession({ id }: { id: string }) {
  return (
    <ConfirmDialog
      trigger="Sign out"
      title="Sign out this session"
      confirm="Sign out"
      action={endSession.bind(null, id)}
    >
      <p>Anyone using it must sign in again.</p>
    </ConfirmDialog>
  )
}

export function EndOtherSessions() {
  return (
    <ConfirmDialog
      trigger={<Button>Sign all others out…</Button>}
      title="Sign out all other sessions"
      confirm="Sign all others out"
      action={endOtherSessions}
    >
      <p>Only this browser stays signed in.</p>
    </ConfirmDialog>
  )
}
