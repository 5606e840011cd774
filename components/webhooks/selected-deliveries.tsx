'use client'

import { resendAll } from '#app/dashboard/webhooks/actions.ts'
import { plural } from '../format.ts'
import { SelectionBar } from '../lists/selection-bar.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'

export function SelectedDeliveries() {
  return (
    <SelectionBar>
      {(chosen, clear) => (
        <ConfirmDialog
          trigger={<Button>Resend…</Button>}
          title={`Resend ${plural(chosen.length, 'event')}`}
          confirm="Resend them"
          action={() => resendAll(chosen)}
          onDone={clear}
        >
          <p>
            Each goes out at once with its own id and a fresh signature, also those that were delivered: a
            receiver that keeps ids takes no harm. What fails is tried again on the schedule from its start.
          </p>
        </ConfirmDialog>
      )}
    </SelectionBar>
  )
}
