'use client'

import { removeAccount } from '#app/dashboard/settings/actions.ts'
import { plural } from '../format.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'

type Props = { email: string; hasPassword: boolean; underWay: number }

/** What will happen stands above the button, and the button wants the name. */
export function DeleteAccount({ email, hasPassword, underWay }: Props) {
  return (
    <ActionForm action={removeAccount} submit="Delete my account" submitTone="danger">
      <ul className="list-disc space-y-1 pl-5 text-ink-soft text-sm">
        <li>
          {underWay === 0
            ? 'No upload is under way.'
            : `${plural(underWay, 'upload')} under way will be canceled.`}
        </li>
        <li>Every Pipe closes, and every Sender, token and account key ends at once.</li>
        <li>Records of files and webhooks are erased. Objects in your buckets are not touched.</li>
        <li>It cannot be undone.</li>
      </ul>
      <TextField
        name="email"
        className="max-w-sm"
        label={
          <span>
            Type <strong className="font-semibold">{email}</strong> to confirm
          </span>
        }
        autoComplete="off"
      />
      {hasPassword && (
        <TextField
          name="password"
          label="Your password"
          type="password"
          className="max-w-sm"
          autoComplete="current-password"
        />
      )}
    </ActionForm>
  )
}
