'use client'

import { Plus, RefreshCw } from 'lucide-react'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { create, rotate } from './actions.ts'

type Props = { asked: boolean; button: boolean }

export function CreateSender({ asked, button }: Props) {
  return (
    <FormDialog
      asked={{ now: asked, path: '/dashboard/senders' }}
      title="Create a Sender"
      description="A Sender is a backend that requests upload tokens, or a device that uploads."
      trigger={button && 'Create a Sender'}
      look={{ tone: 'primary', icon: Plus }}
      action={create}
      submit="Create"
      secret={{
        title: 'Your Sender token',
        what: 'Sender token',
        secretOf: (made: { token: string }) => made.token,
        note: (
          <>
            Add it to your backend's environment as{' '}
            <code className="font-mono text-xs">SLUICE_SENDER_TOKEN</code>. Never put it in a browser.
          </>
        ),
      }}
    >
      <TextField
        name="name"
        label="Name"
        placeholder="web backend"
        hint="The name is shown with every file and sent in every webhook."
        autoFocus
        maxLength={100}
      />
    </FormDialog>
  )
}

export function RotateSender({ id }: { id: string }) {
  return (
    <FormDialog
      title="Rotate the token"
      description="You get a new token. The current one stays valid during the overlap, so that your backends can switch."
      trigger="Rotate"
      look={{ icon: RefreshCw }}
      action={rotate.bind(null, id)}
      submit="Rotate"
      secret={{
        title: 'Your new Sender token',
        what: 'Sender token',
        secretOf: (made: { token: string }) => made.token,
      }}
    >
      <OverlapField />
    </FormDialog>
  )
}

/** How long replaced tokens keep working. */
export function OverlapField() {
  return (
    <SelectField
      name="overlapDays"
      label="Overlap"
      defaultValue="1"
      options={[
        ['0', 'None: the old token stops working now'],
        ['1', '1 day'],
        ['3', '3 days'],
        ['7', '7 days'],
      ]}
    />
  )
}
