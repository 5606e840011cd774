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
            Each is sent at once, with its original id and a new signature, even if it was delivered before: a
            receiver that checks ids ignores it. Those that fail are retried on the full schedule.
          </p>
        </ConfirmDialog>
      )}
    </SelectionBar>
  )
}
