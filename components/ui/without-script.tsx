'use client'

import { clsx } from 'clsx'
import { createContext, type ReactNode, useContext } from 'react'

const Context = createContext(false)
/** True only in content for browsers without JavaScript, where typing cannot enable a button. */
export const useWithoutScript = () => useContext(Context)

type Props = {
  title: string
  description?: ReactNode
  menu?: boolean
  /** Whether the URL says that the dialog is open. */
  open?: boolean
  children: ReactNode
}

/**
 * A dialog's content in the page itself, for browsers without JavaScript. Other browsers treat it as the text of a
 * single `noscript` element, which the end tag of a nested `noscript` would close too early.
 */
export function WithoutScript({ title, description, menu = false, open = false, children }: Props) {
  const content = (
    <Context value={true}>
      <details
        open={open}
        className={clsx('text-left text-sm', !menu && 'min-w-0 max-w-md rounded-md border px-3 py-2')}
      >
        <summary className="cursor-pointer font-medium">{menu ? 'Menu' : title}</summary>
        <div className={menu ? 'absolute inset-x-0 top-full border-b bg-raised p-4' : 'mt-3 space-y-3'}>
          {description && <p className="text-ink-soft">{description}</p>}
          {children}
        </div>
      </details>
    </Context>
  )
  return useWithoutScript() ? content : <noscript>{content}</noscript>
}
