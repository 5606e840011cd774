'use client'

import { Plus } from 'lucide-react'
import { useState } from 'react'
import { createKey, revokeKey } from '#app/dashboard/settings/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { PasswordField, SelectField, TextField } from '../ui/field.tsx'
import { SecretOnce, SecretShown } from '../ui/secret-once.tsx'
import { useAskedOpen } from '../ui/use-asked-open.ts'

type Props = { hasPassword: boolean; asked: boolean; scopes: Scope[] }
type Scope = { value: string; label: string }

export function CreateKey({ hasPassword, asked, scopes }: Props) {
  const [open, setOpen] = useAskedOpen(asked, '/dashboard/settings/keys')
  const [key, setKey] = useState<string>()
  return (
    <>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Create an account key"
        description="It never has more rights than you have. Keep it where only your own programs can read it."
        trigger={
          <Button tone="primary">
            <Plus aria-hidden />
            Create a key
          </Button>
        }
      >
        <ActionForm<{ key: string }>
          action={createKey}
          submit="Create"
          outcome={(data) => <SecretShown title="Your account key" secret={data.key} />}
          onDone={(data) => {
            setOpen(false)
            setKey(data.key)
          }}
        >
          <TextField name="name" label="Name" placeholder="deploy script" autoFocus maxLength={100} />
          <SelectField
            name="scope"
            label="Scope"
            options={scopes.map(({ value, label }) => [value, label])}
          />
          <SelectField
            name="days"
            label="Expires"
            options={[
              ['', 'Never'],
              ['7', 'In 7 days'],
              ['30', 'In 30 days'],
              ['90', 'In 90 days'],
              ['365', 'In a year'],
            ]}
          />
          {hasPassword && <PasswordField hint="Asked again, since a key outlives this session." />}
        </ActionForm>
      </Dialog>
      {key && (
        <SecretOnce
          title="Your account key"
          what="account key"
          secret={key}
          onSaved={() => setKey(undefined)}
        />
      )}
    </>
  )
}

export function RevokeKey({ id, name }: { id: string; name: string }) {
  return (
    <ConfirmDialog
      trigger={
        <Button tone="quiet" size="sm">
          Revoke
        </Button>
      }
      title={`Revoke ${name}`}
      confirm="Revoke"
      action={revokeKey.bind(null, id)}
    >
      <p>Programs that use it get 401 from now on. It cannot be undone.</p>
    </ConfirmDialog>
  )
}
