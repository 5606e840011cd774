'use client'

import { ActionForm, type ActionFormProps } from './action-form.tsx'
import { Dialog, type DialogTrigger } from './dialog.tsx'
import { useAskedOpen } from './use-asked-open.ts'

type Props<Data> = ActionFormProps<Data> & {
  title: string
  description?: string
  trigger: DialogTrigger | false
  /** `now`: whether the URL says that the dialog is open. Closing the dialog resets the URL to `path`. */
  asked?: { now: boolean; path: string }
}

/** A dialog with a single form that closes when it is done. */
export function FormDialog<Data = undefined>(props: Props<Data>) {
  const { title, description, trigger, asked, onDone, ...form } = props
  const [open, show] = useAskedOpen(asked?.now ?? false, asked?.path ?? '')
  return (
    <Dialog open={open} onOpenChange={show} title={title} description={description} trigger={trigger}>
      <ActionForm<Data>
        {...form}
        onDone={(data) => {
          show(false)
          onDone?.(data)
        }}
      />
    </Dialog>
  )
}
