'use client'

import { type ReactNode, useState } from 'react'
import type { FormState } from '#app/actions/form-state.ts'
import { ActionForm } from './action-form.tsx'
import { Dialog, type DialogTrigger } from './dialog.tsx'
import { TextField } from './field.tsx'

type Props = {
  trigger: DialogTrigger
  title: string
  /** What will happen, in full. */
  children: ReactNode
  /** Must be typed first, for what cannot be undone. */
  name?: string
  confirm: string
  action: () => Promise<FormState<unknown>>
  onDone?: () => void
}

export function ConfirmDialog({ trigger, title, children, name, confirm, action, onDone }: Props) {
  const [open, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  return (
    <Dialog trigger={trigger} title={title} open={open} onOpenChange={setOpen}>
      <ActionForm<unknown>
        action={action}
        submit={confirm}
        submitTone="danger"
        disabled={name !== undefined && typed.trim() !== name}
        onDone={() => {
          setOpen(false)
          onDone?.()
        }}
      >
        <div className="space-y-2 text-ink-soft text-sm">{children}</div>
        {name !== undefined && (
          <TextField
            name="confirmation"
            label={
              <span>
                Type <strong className="font-semibold">{name}</strong> to confirm
              </span>
            }
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
      </ActionForm>
    </Dialog>
  )
}
