'use client'

import { RotateCw } from 'lucide-react'
import { resendUndelivered } from '#app/dashboard/webhooks/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'
import { useAskedOpen } from '../ui/use-asked-open.ts'

type Props = { of: { pipeId?: string | undefined; outputId?: string | undefined }; asked: boolean }

export function ResendUndelivered({ of, asked }: Props) {
  const which = of.outputId ? 'of this output' : of.pipeId ? 'of this Pipe' : ''
  const [open, setOpen] = useAskedOpen(asked, '/dashboard/webhooks')
  return (
    <Dialog
      open={open}
      onOpenChange={setOpen}
      title="Resend all undelivered"
      description={
        which
          ? `Every event ${which} that failed or is being retried is sent now.`
          : 'Every event that failed or is being retried is sent now, of all Pipes.'
      }
      trigger={
        <Button>
          <RotateCw aria-hidden />
          Resend all undelivered…
        </Button>
      }
    >
      <ActionForm action={resendUndelivered.bind(null, of)} submit="Resend" onDone={() => setOpen(false)}>
        <SelectField name="hours" label="Events of the last" defaultValue="24">
          <option value="1">hour</option>
          <option value="24">day</option>
          <option value="168">7 days</option>
          <option value="720">30 days</option>
        </SelectField>
      </ActionForm>
    </Dialog>
  )
}
