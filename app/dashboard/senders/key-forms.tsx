'use client'

import { Plus } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { TextArea, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { addKey, removeKey } from './actions.ts'

export function AddKey({ senderId }: { senderId: string }) {
  return (
    <FormDialog
      title="Add an SSH key"
      description="Anyone with its private key can upload for this Sender, to every Pipe that it may use and whose SFTP source is on."
      trigger={<Button icon={Plus}>Add a key</Button>}
      action={addKey.bind(null, senderId)}
      submit="Add"
    >
      <TextField name="name" label="Name" placeholder="Studio" autoFocus maxLength={100} />
      <TextArea
        name="publicKey"
        label="Public key"
        placeholder="ssh-ed25519 AAAAC3Nza…"
        hint="One line, as in id_ed25519.pub: Ed25519, ECDSA, or RSA of at least 2048 bits."
        mono
      />
      <TextField
        name="subject"
        label="Subject"
        optional
        hint="Your own id for the partner. Keys and tokens with the same id share a directory."
      />
    </FormDialog>
  )
}

type Removed = { senderId: string; id: string; name: string }

export function RemoveKey({ senderId, id, name }: Removed) {
  return (
    <ConfirmDialog
      trigger="Remove"
      title={`Remove ${name}`}
      confirm="Remove"
      action={removeKey.bind(null, senderId, id)}
    >
      <p>
        The key can no longer be used to sign in, and its open SFTP sessions end on their next request. Bytes
        that have arrived are kept.
      </p>
    </ConfirmDialog>
  )
}
