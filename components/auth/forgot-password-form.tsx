'use client'

import { askForReset } from '#app/(auth)/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'

export function ForgotPasswordForm({ sendsMail }: { sendsMail: boolean }) {
  return (
    <ActionForm<'sent'>
      action={askForReset}
      submit="Send the link"
      instead={() =>
        sendsMail ? (
          <Notice tone="good" title="If there is an account, an e-mail is on its way">
            Check your inbox and your junk folder.
          </Notice>
        ) : (
          <Notice tone="info" title="This installation sends no mail">
            If there is an account for this address, whoever runs the installation can now give you its link.
          </Notice>
        )
      }
    >
      <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus required />
    </ActionForm>
  )
}
