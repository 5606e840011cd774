'use client'

import { type ReactNode, useState } from 'react'
import { TypeToConfirm } from './field.tsx'
import { FormDialog, type FormDialogProps } from './form-dialog.tsx'

type Passed = 'trigger' | 'look' | 'triggerLabel' | 'title' | 'action' | 'onDone' | 'outcome'

/** With a `name`, the action also checks the typed name. */
type Props<Data> = Pick<FormDialogProps<Data>, Passed> & {
  /** The text that explains all consequences. */
  children: ReactNode
  /** For irreversible actions: the name that the user must type to confirm. */
  name?: string
  confirm: string
}

export function ConfirmDialog<Data = undefined>({ children, name, confirm, ...dialog }: Props<Data>) {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog<Data>
      {...dialog}
      submit={confirm}
      submitTone="danger"
      disabled={name !== undefined && typed.trim() !== name}
    >
      <div className="space-y-2 text-ink-soft text-sm">{children}</div>
      {name !== undefined && (
        <>
          <input type="hidden" name="toConfirm" value={name} />
          <TypeToConfirm
            name="confirmation"
            text={name}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </>
      )}
    </FormDialog>
  )
}
