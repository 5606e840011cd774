'use client'

import { Plus } from 'lucide-react'
import { useState } from 'react'
import { createKey } from '#app/dashboard/settings/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { SecretOnce } from '../ui/secret-once.tsx'
import { SecretShown } from '../ui/secret-shown.tsx'
import { useAskedOpen } from '../ui/use-asked-open.ts'

export function CreateKey({ hasPassword, asked }: { hasPassword: boolean; asked: boolean }) {
  const [open, setOpen] = useAskedOpen(asked, '/dashboard/settings/keys')
  const [key, setKey] = useState<string>()
  return (
    <>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title="Create an account key"
        description="It can do everything that you can do here. Keep it where only your own programs can read it."
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
          {hasPassword && (
            <TextField
              name="password"
              label="Your password"
              type="password"
              autoComplete="current-password"
              hint="Asked again, since a key outlives this session."
            />
          )}
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
