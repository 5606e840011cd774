'use client'

import { Plus, RefreshCw } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { create, revoke, revokeIssued, rotate } from './actions.ts'

type Props = { asked: boolean; button: boolean }

export function CreateSender({ asked, button }: Props) {
  return (
    <FormDialog
      asked={{ now: asked, path: '/dashboard/senders' }}
      title="Create a Sender"
      description="A Sender is a backend that requests upload tokens, or a device that uploads."
      trigger={
        button && (
          <Button tone="primary" icon={Plus}>
            Create a Sender
          </Button>
        )
      }
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
      trigger={<Button icon={RefreshCw}>Rotate</Button>}
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

export function RevokeSender({ id, name }: { id: string; name: string }) {
  return (
    <IfMay right="build">
      <Panel
        tone="danger"
        title="Revoke"
        description="Immediate and permanent. Every temporary token that this Sender requested is also revoked, even for uploads in progress."
        aside={
          <ConfirmDialog
            trigger={<Button tone="danger">Revoke…</Button>}
            title={`Revoke ${name}`}
            name={name}
            confirm="Revoke this Sender"
            action={revoke.bind(null, id)}
          >
            <p>
              Backends that use this Sender's token will get 401. Uploads in progress that use its temporary
              tokens stop.
            </p>
          </ConfirmDialog>
        }
      />
    </IfMay>
  )
}

export function RevokeToken({ id }: { id: string }) {
  return (
    <ConfirmDialog
      trigger="Revoke"
      title="Revoke this token"
      confirm="Revoke"
      action={revokeIssued.bind(null, id)}
    >
      <p>
        The token stops working immediately, even for uploads in progress. They can continue with a new token
        from the same Sender with the same subject.
      </p>
    </ConfirmDialog>
  )
}
