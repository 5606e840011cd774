'use client'

import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { PasswordField, TypeToConfirm } from '#components/ui/field.tsx'
import { removeAccount } from './actions.ts'

type Props = { email: string; hasPassword: boolean; underWay: number }

/** Lists the consequences above the button, and requires the user to type the account's address. */
export function DeleteAccount({ email, hasPassword, underWay }: Props) {
  return (
    <ActionForm action={removeAccount} submit="Delete my account" submitTone="danger">
      <ul className="list-disc space-y-1 pl-5 text-ink-soft text-sm">
        <li>
          {underWay === 0
            ? 'No uploads in progress.'
            : `${plural(underWay, 'upload')} in progress will be canceled.`}
        </li>
        <li>Every Pipe closes, and every Sender, token and account key stops working immediately.</li>
        <li>Records of files and webhooks are erased. Objects in your buckets are not touched.</li>
        <li>This cannot be undone.</li>
      </ul>
      <TypeToConfirm name="email" text={email} className="max-w-sm" />
      {hasPassword && <PasswordField className="max-w-sm" />}
    </ActionForm>
  )
}
