'use client'

import * as Radix from '@radix-ui/react-dialog'
import { clsx } from 'clsx'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useReturnFocus } from './return-focus.ts'

export type DialogContentProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: ReactNode
  /** A drawer slides in from the side, so that it can be read next to a list. */
  as?: 'dialog' | 'drawer' | 'menu'
  wide?: boolean
  /** If false, the dialog stays open until its own button is used, for example if a secret is shown once. */
  dismissable?: boolean
  children: ReactNode
}

const PLACES = {
  dialog: 'inset-x-0 mx-auto top-[8vh] max-h-[84vh] w-[calc(100vw-2rem)] rounded-xl border animate-rise',
  drawer: 'inset-y-0 right-0 h-full w-full border-l animate-slide',
  menu: 'inset-y-0 left-0 h-full w-72 max-w-[85vw] border-r animate-slide-left',
} as const

export function DialogContent(props: DialogContentProps) {
  const { as = 'dialog', wide = false, dismissable = true, title, description, children } = props
  const focus = useReturnFocus()
  const stay = dismissable ? undefined : (event: Event) => event.preventDefault()
  const width = as === 'menu' ? '' : as === 'drawer' || wide ? 'max-w-2xl' : 'max-w-md'
  return (
    <Radix.Root open={props.open} onOpenChange={props.onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-fade bg-scrim" />
        <Radix.Content
          onEscapeKeyDown={stay}
          onInteractOutside={stay}
          {...focus}
          {...(description ? {} : { 'aria-describedby': undefined })}
          className={clsx(
            'fixed z-50 flex flex-col overflow-hidden border-line bg-raised shadow-float outline-none',
            PLACES[as],
            width,
          )}
        >
          <header className="flex items-start justify-between gap-4 px-5 pt-4 pb-3">
            <div className="min-w-0">
              <Radix.Title className="truncate font-semibold text-lg">{title}</Radix.Title>
              {description && (
                <Radix.Description className="mt-1 text-ink-soft text-sm">{description}</Radix.Description>
              )}
            </div>
            {dismissable && (
              <Radix.Close
                aria-label="Close"
                className="-mr-1.5 grid size-7 shrink-0 place-items-center rounded-md text-ink-faint hover:bg-hover hover:text-ink"
              >
                <X className="size-4" aria-hidden />
              </Radix.Close>
            )}
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pb-5">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
