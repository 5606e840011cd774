'use client'

import type { LucideIcon } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { ActionForm, type ActionFormProps } from './action-form.tsx'
import { Button, type Look } from './button.tsx'
import { Dialog, type DialogTrigger } from './dialog.tsx'
import { type CreatedSecret, useSecretOnce } from './secret-once.tsx'

export type FormDialogProps<Data> = ActionFormProps<Data> & {
  title: string
  description?: string
  /** A string is the label of a button: a small one, as in the rows of a table, unless `look` says otherwise. */
  trigger: DialogTrigger | string | false
  look?: Look & { icon?: LucideIcon }
  /** What that button is called where its label does not say what it acts on. */
  triggerLabel?: string
  /** For actions that create a secret, which a dialog of its own shows once. */
  secret?: CreatedSecret<Data>
  /** `now`: whether the URL says that the dialog is open. Closing the dialog resets the URL to `path`. */
  asked?: { now: boolean; path: string }
}

const ROW = { tone: 'quiet', size: 'sm' } as const

/** A dialog with a single form that closes when it is done. */
export function FormDialog<Data = undefined>(props: FormDialogProps<Data>) {
  const { title, description, trigger, look, triggerLabel, secret, asked, ...form } = props
  const [open, show] = useAskedOpen(asked?.now ?? false, asked?.path ?? '')
  const { answers, dialog } = useSecretOnce(secret)
  const { onDone, outcome } = secret ? answers : form
  const button =
    typeof trigger === 'string' ? (
      <Button {...(look ?? ROW)} className="relative" aria-label={triggerLabel}>
        {trigger}
      </Button>
    ) : (
      trigger
    )
  return (
    <>
      <Dialog open={open} onOpenChange={show} title={title} description={description} trigger={button}>
        <ActionForm<Data>
          {...form}
          outcome={outcome}
          onDone={(data) => {
            show(false)
            onDone?.(data)
          }}
        />
      </Dialog>
      {dialog}
    </>
  )
}

/**
 * The open state of a dialog that also opens if the URL says so. Closing the dialog resets the URL to `path`, so that a
 * reload does not open it again.
 */
function useAskedOpen(asked: boolean, path: string): [open: boolean, show: (next: boolean) => void] {
  const router = useRouter()
  const [open, setOpen] = useState(asked)
  const [heard, setHeard] = useState(asked)
  if (asked !== heard) {
    setHeard(asked)
    if (asked) setOpen(true)
  }
  return [
    open,
    (next) => {
      setOpen(next)
      if (!next && asked) router.replace(path, { scroll: false })
    },
  ]
}
