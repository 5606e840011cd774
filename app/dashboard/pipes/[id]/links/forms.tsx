'use client'

import { Plus } from 'lucide-react'
import { CheckField, SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { SizeField } from '#components/ui/size-field.tsx'
import type { UploadLink } from '#lib/upload-links/upload-link.ts'
import { changeLink, createLink } from './actions.ts'

type Mailed = {
  /** Whom the server can send emails to. */
  addresses: string[]
}

type Props = Mailed & { pipeId: string; asked: boolean; button: boolean }

export function CreateLink({ pipeId, asked, button, addresses }: Props) {
  return (
    <FormDialog
      asked={{ now: asked, path: `/dashboard/pipes/${pipeId}/links` }}
      title="Create an upload link"
      description="People who open the link can upload to this Pipe without an account."
      trigger={button && 'Create a link'}
      look={{ tone: 'primary', icon: Plus }}
      action={createLink.bind(null, pipeId)}
      submit="Create"
      secret={{
        title: 'Your upload link',
        what: 'upload link',
        secretOf: (made: { url: string }) => made.url,
        note: 'Send the link to the people who should upload. Anyone who has it can use it, within its limits.',
      }}
    >
      <LinkFields addresses={addresses} />
    </FormDialog>
  )
}

export function EditLink({ link, addresses }: Mailed & { link: UploadLink }) {
  return (
    <FormDialog
      title={`Edit ${link.title}`}
      trigger="Edit"
      action={changeLink.bind(null, link.id)}
      submit="Save"
    >
      <LinkFields link={link} addresses={addresses} />
    </FormDialog>
  )
}

const EXPIRIES = [
  ['never', 'Never'],
  ['1', 'In a day'],
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const

function LinkFields({ link, addresses }: Mailed & { link?: UploadLink }) {
  return (
    <>
      <TextField
        name="title"
        label="Title"
        placeholder="Films for May"
        hint="Shown to everyone who has the link, even before the password."
        defaultValue={link?.title}
        autoFocus
        maxLength={100}
      />
      <TextArea
        name="message"
        label="Message"
        optional
        rows={3}
        placeholder="One file for each scene."
        defaultValue={link?.message}
        maxLength={2000}
      />
      <TextField
        name="password"
        label={link?.hasPassword ? 'New password' : 'Password'}
        type="password"
        optional
        hint={
          link?.hasPassword
            ? 'At least 8 characters. Leave empty to keep the current password.'
            : 'At least 8 characters.'
        }
        autoComplete="new-password"
      />
      {link?.hasPassword && <CheckField name="withoutPassword" label="Remove the password" />}
      <SelectField
        name="expiresIn"
        label="Expires"
        defaultValue={link ? '' : 'never'}
        options={link ? [['', 'Unchanged'], ...EXPIRIES] : EXPIRIES}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          name="maxFiles"
          label="Total files"
          optional
          inputMode="numeric"
          placeholder="any number"
          defaultValue={link?.maxFiles ?? undefined}
        />
        <SizeField name="maxBytes" label="Total size" optional placeholder="any" bytes={link?.maxBytes} />
      </div>
      <TextArea
        name="allowedTypes"
        label="Allowed types"
        optional
        mono
        rows={2}
        defaultValue={link?.allowedTypes.join('\n')}
        placeholder={'image/*\napplication/pdf'}
        hint="One per line. Leave empty to allow what the Pipe allows."
      />
      {addresses.length > 0 && (
        <>
          <SelectField
            name="notifyEmail"
            label="Email when files arrive"
            defaultValue={link?.notifyEmail ?? ''}
            options={[['', 'Nobody'], ...addresses.map((address) => [address, address] as const)]}
          />
          <CheckField
            name="receipts"
            label="Offer uploaders a receipt by email"
            defaultChecked={link?.receipts}
          />
        </>
      )}
    </>
  )
}
