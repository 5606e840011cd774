'use client'

import { Plus, RefreshCw } from 'lucide-react'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { OverlapField } from '../forms.tsx'
import { create, createMany, move, remove, revoke, rotate } from './actions.ts'

type Group = { id: string; name: string }

const CREDENTIALS = {
  title: 'The credentials',
  what: 'credentials',
  file: 'senders.csv',
  secretOf: (made: { csv: string }) => made.csv,
}

type FieldProps = { groups: Group[]; label: string; defaultValue?: string; hint?: string }

export function GroupField({ groups, ...field }: FieldProps) {
  const options = [['', 'No group'] as const, ...groups.map(({ id, name }) => [id, name] as const)]
  return <SelectField name="groupId" options={options} {...field} />
}

export function CreateMany({ groups }: { groups: Group[] }) {
  return (
    <FormDialog
      title="Create many Senders"
      description="One for each device, up to 1,000 at once. You get all tokens as a CSV file."
      trigger="Create many"
      look={{}}
      action={createMany}
      submit="Create"
      secret={CREDENTIALS}
    >
      <TextArea
        name="names"
        label="Names"
        rows={6}
        mono
        placeholder={'Camera gate north\nCamera gate south'}
        hint="One per line, or the lines of a CSV file whose first column has the names."
      />
      <GroupField groups={groups} label="Group" />
    </FormDialog>
  )
}

export function CreateGroup() {
  return (
    <FormDialog
      title="Create a group"
      trigger="Create a group"
      look={{ tone: 'primary', icon: Plus }}
      action={create}
      submit="Create"
    >
      <TextField name="name" label="Name" placeholder="Cameras in hall 3" autoFocus maxLength={100} />
    </FormDialog>
  )
}

export function GroupActions({ id, name, others }: Group & { others: Group[] }) {
  return (
    <div className="flex flex-wrap gap-2">
      <FormDialog
        title="Rotate all tokens"
        description="You get a new token for each Sender in this group, as a CSV file."
        trigger="Rotate all"
        look={{ icon: RefreshCw }}
        action={rotate.bind(null, id)}
        submit="Rotate"
        secret={CREDENTIALS}
      >
        <OverlapField />
      </FormDialog>
      <FormDialog
        title="Move all Senders"
        trigger="Move all"
        look={{}}
        action={move.bind(null, id)}
        submit="Move"
      >
        <GroupField groups={others} label="To" hint="From the next request, the limits there apply." />
      </FormDialog>
      <ConfirmDialog
        trigger="Revoke all…"
        look={{ tone: 'danger' }}
        title={`Revoke all Senders in ${name}`}
        name={name}
        confirm="Revoke these Senders"
        action={revoke.bind(null, id)}
      >
        <p>
          Immediate and permanent. Their devices are disconnected, and the temporary tokens that they
          requested stop working.
        </p>
      </ConfirmDialog>
      <ConfirmDialog
        trigger="Delete"
        title={`Delete ${name}`}
        confirm="Delete the group"
        action={remove.bind(null, id)}
      >
        <p>Only a group whose Senders are all revoked or moved can be deleted.</p>
      </ConfirmDialog>
    </div>
  )
}
