'use client'

import { type ComponentProps, useActionState, useEffect, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { FieldErrors, TextField } from '#components/ui/field.tsx'
import type { LinkPage } from '#packages/react/src/words.ts'

type Props = {
  /** Throws an UploadFailure if the server refuses the value. */
  send(value: string): Promise<void>
  field: ComponentProps<typeof TextField>
  submit: string
  tone?: ComponentProps<typeof Button>['tone']
  /** What to say if nothing was entered, and by the status of a refusal. */
  refusals: { missing: string; [status: number]: string }
  texts: Pick<LinkPage['password'], 'limited' | 'noResponse'>
}

type Refusal = { text: string; value: string }

/** A form with a single field: a password, or an email address. */
export function FieldForm({ send, field, submit, tone, refusals, texts }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const [refusal, act, busy] = useActionState<Refusal | undefined, FormData>(async (_, data) => {
    const value = String(data.get(field.name) ?? '')
    if (value === '') return { text: refusals.missing, value }
    try {
      await send(value)
      return undefined
    } catch (error) {
      return { text: textOf(error, { refusals, texts }), value }
    }
  }, undefined)

  useEffect(() => {
    if (refusal) form.current?.querySelector('input')?.focus()
  }, [refusal])

  return (
    <FieldErrors value={refusal ? { [field.name]: refusal.text } : {}}>
      <form
        ref={form}
        action={act}
        noValidate
        className="flex flex-col gap-4 rounded-lg border bg-surface p-5"
      >
        <TextField
          {...field}
          required
          defaultValue={field.type === 'password' ? undefined : refusal?.value}
        />
        <Button type="submit" tone={tone} busy={busy} className="self-start">
          {submit}
        </Button>
      </form>
    </FieldErrors>
  )
}

function textOf(error: unknown, { refusals, texts }: Pick<Props, 'refusals' | 'texts'>): string {
  const { status = 0, message } = error as { status?: number; message: string }
  const known = refusals[status] ?? (status === 429 ? texts.limited : undefined)
  return known ?? (status > 0 && status < 500 ? message : texts.noResponse)
}
