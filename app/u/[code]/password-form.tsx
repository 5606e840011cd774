'use client'

import { useActionState, useEffect, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { FieldErrors, TextField } from '#components/ui/field.tsx'
import type { LinkPage } from '#packages/react/src/words.ts'

type Props = {
  enter(password: string): Promise<void>
  /** Whether earlier uploads continue without the password. */
  continues: boolean
  texts: LinkPage['password']
}

type Refusal = { text: string }

export function PasswordForm({ enter, continues, texts }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const [refusal, send, busy] = useActionState<Refusal | undefined, FormData>(async (_, data) => {
    const password = String(data.get('password') ?? '')
    if (password === '') return { text: texts.missing }
    try {
      await enter(password)
      return undefined
    } catch (error) {
      return { text: textOf(error, texts) }
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
          label={texts.label}
          hint={continues ? texts.again : texts.ask}
          autoComplete="off"
          required
        />
        <Button type="submit" tone="primary" busy={busy} className="self-start">
          {texts.enter}
        </Button>
      </form>
    </FieldErrors>
  )
}

function textOf(error: unknown, texts: Props['texts']): string {
  const { status, message } = error as { status?: number; message: string }
  if (status === 403) return texts.wrong
  if (status === 429) return texts.limited
  return status !== undefined && status < 500 ? message : texts.noResponse
}
