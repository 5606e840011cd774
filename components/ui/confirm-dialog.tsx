'use client'

import { type ReactNode, useState } from 'react'
import type { FormAction } from '#app/actions/form-state.ts'
import { ActionForm } from './action-form.tsx'
import { Dialog, type DialogTrigger } from './dialog.tsx'
import { TextField } from './field.tsx'

type Props<Data> = {
  trigger: DialogTrigger
  title: string
  /** What will happen, in full. */
  children: ReactNode
  /** Must be typed first, for what cannot be undone. */
  name?: string
  confirm: string
  /** A server action, bound to what it is about: with a `name` it asks for the confirmation as well. */
  action: FormAction<Data>
  onDone?: (data: Data) => void
  outcome?: (data: Data) => ReactNode
}

export function ConfirmDialog<Data = undefined>(props: Props<Data>) {
  const { trigger, title, children, name, confirm, action, onDone, outcome } = props
  const [open, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  return (
    <Dialog trigger={trigger} title={title} open={open} onOpenChange={setOpen}>
      <ActionForm<Data>
        action={action}
        submit={confirm}
        submitTone="danger"
        disabled={name !== undefined && typed.trim() !== name}
        outcome={outcome}
        onDone={(data) => {
          setOpen(false)
          onDone?.(data)
        }}
      >
        <div className="space-y-2 text-ink-soft text-sm">{children}</div>
        {name !== undefined && <input type="hidden" name="toConfirm" value={name} />}
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
