'use client'

import { Plus, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { create, rename, revoke, revokeIssued, rotate } from '#app/dashboard/senders/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Panel } from '../ui/panel.tsx'
import { IfMay } from '../ui/rights.tsx'
import { SecretOnce, SecretShown } from '../ui/secret-once.tsx'
import { useAskedOpen } from '../ui/use-asked-open.ts'

type Props = { asked: boolean; button: boolean }

export function CreateSender({ asked, button }: Props) {
  const [open, show] = useAskedOpen(asked, '/dashboard/senders')
  const [token, setToken] = useState<string>()
  return (
    <>
      <Dialog
        open={open}
        onOpenChange={show}
        title="Create a Sender"
        description="A Sender is a backend of yours that may ask for upload tokens."
        trigger={
          button && (
            <Button tone="primary">
              <Plus aria-hidden />
              Create a Sender
            </Button>
          )
        }
      >
        <ActionForm<{ token: string }>
          action={create}
          submit="Create"
          outcome={(data) => <SecretShown title="Your Sender token" secret={data.token} />}
          onDone={(data) => {
            show(false)
            setToken(data.token)
          }}
        >
          <TextField
            name="name"
            label="Name"
            placeholder="web backend"
            hint="It is shown with every file and sent in every webhook."
            autoFocus
            maxLength={100}
          />
        </ActionForm>
      </Dialog>
      {token && (
        <SecretOnce
          title="Your Sender token"
          what="Sender token"
          secret={token}
          onSaved={() => setToken(undefined)}
        >
          <p className="text-ink-soft text-sm">
            Put it into the environment of your backend, as{' '}
            <code className="font-mono text-xs">SLUICE_SENDER_TOKEN</code>. It never belongs in a browser.
          </p>
        </SecretOnce>
      )}
    </>
  )
}

export function RenameSender({ id, name }: { id: string; name: string }) {
  return (
    <Panel title="Name">
      <ActionForm right="build" action={rename.bind(null, id)} submit="Save" submitTone="plain">
        <TextField
          name="name"
          label="Name"
          defaultValue={name}
          maxLength={100}
          className="max-w-sm"
          hint="Existing files keep the old name."
        />
      </ActionForm>
    </Panel>
  )
}

export function RotateSender({ id }: { id: string }) {
  const [open, setOpen] = useState(false)
  const [token, setToken] = useState<string>()
  return (
    <>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Rotate the token"
        description="You get a new token. The current one stays valid for the overlap, so that your backends can switch."
        trigger={
          <Button>
            <RefreshCw aria-hidden />
            Rotate
          </Button>
        }
      >
        <ActionForm<{ token: string }>
          action={rotate.bind(null, id)}
          submit="Rotate"
          outcome={(data) => <SecretShown title="Your new Sender token" secret={data.token} />}
          onDone={(data) => {
            setOpen(false)
            setToken(data.token)
          }}
        >
          <SelectField
            name="overlapDays"
            label="Overlap"
            defaultValue="1"
            options={[
              ['0', 'None: the old token ends now'],
              ['1', '1 day'],
              ['3', '3 days'],
              ['7', '7 days'],
            ]}
          />
        </ActionForm>
      </Dialog>
      {token && (
        <SecretOnce
          title="Your new Sender token"
          what="Sender token"
          secret={token}
          onSaved={() => setToken(undefined)}
        />
      )}
    </>
  )
}

export function RevokeSender({ id, name }: { id: string; name: string }) {
  return (
    <IfMay right="build">
      <Panel
        tone="danger"
        title="Revoke"
        description="Immediate and permanent. Every temporary token that it issued is revoked, too, even for uploads under way."
        aside={
          <ConfirmDialog
            trigger={<Button tone="danger">Revoke…</Button>}
            title={`Revoke ${name}`}
            name={name}
            confirm="Revoke this Sender"
            action={revoke.bind(null, id)}
          >
            <p>
              Backends that use its token get 401 from now on. Uploads under way with its tokens stop where
              they are.
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
