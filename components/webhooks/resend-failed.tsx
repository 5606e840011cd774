'use client'

import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { resendAllFailed } from '#app/dashboard/webhooks/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'

export function ResendFailed({ pipeId }: { pipeId: string | undefined }) {
  const [open, setOpen] = useState(false)
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      title="Resend what failed"
      description={
        pipeId
          ? 'Every failed event of this Pipe is sent again.'
          : 'Every failed event of every Pipe is sent again.'
      }
      trigger={
        <Button>
          <RotateCw aria-hidden />
          Resend failed…
        </Button>
      }
    >
      <ActionForm action={resendAllFailed.bind(null, pipeId)} submit="Resend" onDone={() => setOpen(false)}>
        <SelectField name="hours" label="Failed in the last" defaultValue="24">
          <option value="1">hour</option>
          <option value="24">day</option>
          <option value="168">7 days</option>
          <option value="720">30 days</option>
        </SelectField>
      </ActionForm>
    </Dialog>
  )
}
