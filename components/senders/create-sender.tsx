'use client'

import { Plus } from 'lucide-react'
import { useState } from 'react'
import { create } from '#app/dashboard/senders/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { SecretOnce } from '../ui/secret-once.tsx'
import { SecretShown } from '../ui/secret-shown.tsx'
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
