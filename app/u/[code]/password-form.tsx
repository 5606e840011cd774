'use client'

import { useActionState, useEffect, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { FieldErrors, TextField } from '#components/ui/field.tsx'

type Props = {
  enter(password: string): Promise<void>
  /** Whether earlier uploads continue without the password. */
  continues: boolean
}

type Refusal = { text: string }

export function PasswordForm({ enter, continues }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const [refusal, send, busy] = useActionState<Refusal | undefined, FormData>(async (_, data) => {
    const password = String(data.get('password') ?? '')
    if (password === '') return { text: "Enter this link's password." }
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
              ? 'Uploads in progress continue without the password. Enter it again to send more files.'
              : 'Ask the person who sent you this link.'
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
  if (status === 403) return 'Wrong password. Ask the person who sent you the link.'
  if (status !== undefined && status < 500) return message
  return 'The server did not respond. Check your connection and try again.'
}
