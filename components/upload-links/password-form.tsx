'use client'

import { useActionState, useEffect, useRef } from 'react'
import { Button } from '../ui/button.tsx'
import { FieldErrors, TextField } from '../ui/field.tsx'

type Props = {
  enter(password: string): Promise<void>
  /** Whether uploads from before go on without it. */
  continues: boolean
}

type Refusal = { text: string }

export function PasswordForm({ enter, continues }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const [refusal, send, busy] = useActionState<Refusal | undefined, FormData>(async (_, data) => {
    const password = String(data.get('password') ?? '')
    if (password === '') return { text: 'Enter the password of this link.' }
    try {
      await enter(password)
      return undefined
    } catch (error) {
      return { text: textOf(error) }
    }
  }, undefined)

  useEffect(() => {
    if (refusal) form.current?.querySelector('input')?.focus()
  }, [refusal])

  return (
    <FieldErrors value={refusal ? { password: refusal.text } : {}}>
      <form
        ref={form}
        action={send}
        noValidate
        className="flex flex-col gap-4 rounded-lg border bg-surface p-5"
      >
        <TextField
          name="password"
          type="password"
          label="Password"
          hint={
            continues
              ? 'What you have begun goes on without it. To send more files, enter it again.'
              : 'Whoever sent you this link has it.'
          }
          autoComplete="off"
          required
        />
        <Button type="submit" tone="primary" busy={busy} className="self-start">
          Continue
        </Button>
      </form>
    </FieldErrors>
  )
}

function textOf(error: unknown): string {
  const { status, message } = error as { status?: number; message: string }
  if (status === 403) return 'This is not the password. Check it with whoever sent you the link.'
  if (status !== undefined && status < 500) return message
  return 'The server did not answer. Check your connection and try again.'
}
