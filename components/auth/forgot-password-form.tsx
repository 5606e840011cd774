'use client'

import { useState } from 'react'
import { askForReset } from '#app/(auth)/actions.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'

export function ForgotPasswordForm({ keptIn }: { keptIn: string | undefined }) {
  const [sent, setSent] = useState(false)
  if (sent) {
    return (
      <Notice tone="good" title="If there is an account, a mail is on its way">
        {keptIn ? (
          <>
            This installation sends no mail; it keeps them in{' '}
            <code className="font-mono text-xs">{keptIn}</code>.
          </>
        ) : (
          'Look into your mailbox, and into its junk.'
        )}
      </Notice>
    )
  }
  return (
    <ActionForm<'sent'> action={askForReset} submit="Send the link" onDone={() => setSent(true)}>
      <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus required />
    </ActionForm>
  )
}
