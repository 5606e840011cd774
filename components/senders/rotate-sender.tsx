'use client'

import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { rotate } from '#app/dashboard/senders/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { SelectField } from '../ui/field.tsx'
import { SecretOnce } from '../ui/secret-once.tsx'
import { SecretShown } from '../ui/secret-shown.tsx'

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
          <SelectField name="overlapDays" label="Overlap" defaultValue="1">
            <option value="0">None: the old token ends now</option>
            <option value="1">1 day</option>
            <option value="3">3 days</option>
            <option value="7">7 days</option>
          </SelectField>
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
