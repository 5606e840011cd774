'use client'

import dynamic from 'next/dynamic'
import { type ComponentProps, cloneElement, type ReactElement, useState } from 'react'
import type { DialogContentProps } from './dialog-content.tsx'
import { WithoutScript } from './without-script.tsx'

const load = () => import('./dialog-content.tsx')
const Content = dynamic(() => load().then((module) => module.DialogContent), { ssr: false })

export type DialogTrigger = ReactElement<ComponentProps<'button'>>

type Props = Omit<DialogContentProps, 'open' | 'onOpenChange'> & {
  open?: boolean
  onOpenChange?: (open: boolean) => void
  trigger?: DialogTrigger | false
}

/**
 * Only the trigger is part of the page. The dialog's code, a tenth of the page's script, loads when the user hovers
 * over the trigger or focuses it.
 */
export function Dialog({ trigger, open: given, onOpenChange, ...content }: Props) {
  const [own, setOwn] = useState(false)
  const open = given ?? own
  const [wanted, setWanted] = useState(open)
  if (open && !wanted) setWanted(true)
  const change = (next: boolean) => {
    setOwn(next)
    onOpenChange?.(next)
  }
  return (
    <>
      {trigger &&
        cloneElement(trigger, {
          'aria-haspopup': 'dialog',
          'aria-expanded': open,
          onPointerEnter: load,
          onFocus: load,
          onClick: (event) => {
            // Safari does not focus a clicked button, but the dialog must return focus to it.
            event.currentTarget.focus()
            change(true)
          },
        })}
      {(trigger || open) && (
        <WithoutScript
          title={content.title}
          description={content.description}
          menu={content.as === 'menu'}
          open={open}
        >
          {content.children}
        </WithoutScript>
      )}
      {wanted && <Content {...content} open={open} onOpenChange={change} />}
    </>
  )
}
