'use client'

import { Plus } from 'lucide-react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { PasswordField, SelectField, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { createKey, revokeKey } from './actions.ts'

type Props = { hasPassword: boolean; asked: boolean; scopes: Scope[] }
type Scope = { value: string; label: string }

export function CreateKey({ hasPassword, asked, scopes }: Props) {
  return (
    <FormDialog
      asked={{ now: asked, path: '/dashboard/settings/keys' }}
      title="Create an account key"
      description="The key never has more rights than you have. Store it where only your own programs can read it."
      trigger="Create a key"
      look={{ tone: 'primary', icon: Plus }}
      action={createKey}
      submit="Create"
      secret={{
        title: 'Your account key',
        what: 'account key',
        secretOf: (made: { key: string }) => made.key,
      }}
    >
      <TextField name="name" label="Name" placeholder="deploy script" autoFocus maxLength={100} />
      <SelectField name="scope" label="Scope" options={scopes.map(({ value, label }) => [value, label])} />
      <SelectField
        name="days"
        label="Expires"
        defaultValue="90"
        options={[
          ['', 'Never'],
          ['7', 'In 7 days'],
          ['30', 'In 30 days'],
          ['90', 'In 90 days'],
          ['365', 'In a year'],
        ]}
      />
      {hasPassword && <PasswordField hint="Required again, because a key outlives this session." />}
    </FormDialog>
  )
}

export function RevokeKey({ id, name }: { id: string; name: string }) {
  return (
    <ConfirmDialog
      trigger="Revoke"
      title={`Revoke ${name}`}
      confirm="Revoke"
      action={revokeKey.bind(null, id)}
    >
      <p>Programs that use it will get 401. This cannot be undone.</p>
    </ConfirmDialog>
  )
}
