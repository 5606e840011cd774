'use client'

import { RotateCw } from 'lucide-react'
import { plural } from '#components/format.ts'
import { SelectionBar } from '#components/lists/selection.tsx'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { SelectField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { resend, resendAll, resendUndelivered } from './actions.ts'

export function ResendOne({ id }: { id: string }) {
  return (
    <ActionForm
      right="operate"
      action={resend.bind(null, id)}
      submit="Resend"
      icon={<RotateCw aria-hidden />}
    />
  )
}

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
            Each event is sent immediately, with its original id and a new signature, even if it was delivered
            before: a receiver that checks ids ignores duplicates. Failed events are retried on the full
            schedule.
          </p>
        </ConfirmDialog>
      )}
    </SelectionBar>
  )
}

type Props = { of: { pipeId?: string | undefined; outputId?: string | undefined }; asked: boolean }

export function ResendUndelivered({ of, asked }: Props) {
  const which = of.outputId ? 'for this output' : of.pipeId ? 'from this Pipe' : ''
  return (
    <FormDialog
      asked={{ now: asked, path: '/dashboard/webhooks' }}
      title="Resend all undelivered"
      description={
        which
          ? `Events ${which} are sent now if they have failed or are being retried.`
          : 'Events from all Pipes are sent now if they have failed or are being retried.'
      }
      trigger={<Button icon={RotateCw}>Resend all undelivered…</Button>}
      action={resendUndelivered.bind(null, of)}
      submit="Resend"
    >
      <SelectField
        name="hours"
        label="Events from the last"
        defaultValue="24"
        options={[
          ['1', 'hour'],
          ['24', 'day'],
          ['168', '7 days'],
          ['720', '30 days'],
        ]}
      />
    </FormDialog>
  )
}
