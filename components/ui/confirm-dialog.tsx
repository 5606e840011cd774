'use client'

import { type ReactNode, useState } from 'react'
import type { DialogTrigger } from './dialog.tsx'
import { TypeToConfirm } from './field.tsx'
import { FormDialog } from './form-dialog.tsx'
import type { FormAction } from './form-state.ts'

type Props<Data> = {
  trigger: DialogTrigger | string
  triggerLabel?: string
  title: string
  /** The text that explains all consequences. */
  children: ReactNode
  /** For irreversible actions: the name that the user must type to confirm. */
  name?: string
  confirm: string
  /** A server action, bound to its object. With a `name`, it also checks the typed name. */
  action: FormAction<Data>
  onDone?: (data: Data) => void
  outcome?: (data: Data) => ReactNode
}

export function ConfirmDialog<Data = undefined>(props: Props<Data>) {
  const { trigger, triggerLabel, title, children, name, confirm, action, onDone, outcome } = props
  const [typed, setTyped] = useState('')
  return (
    <FormDialog<Data>
      trigger={trigger}
      triggerLabel={triggerLabel}
      title={title}
      action={action}
      submit={confirm}
      submitTone="danger"
      disabled={name !== undefined && typed.trim() !== name}
      outcome={outcome}
      onDone={onDone}
    >
      <div className="space-y-2 text-ink-soft text-sm">{children}</div>
      {name !== undefined && <input type="hidden" name="toConfirm" value={name} />}
      {name !== undefined && (
        <TypeToConfirm
          name="confirmation"
          text={name}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
    </FormDialog>
  )
}
