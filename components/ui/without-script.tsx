'use client'

import { clsx } from 'clsx'
import { createContext, type ReactNode, useContext } from 'react'

const Context = createContext(false)
/** True in what is there only for those without script, where nothing that is typed can enable a button. */
export const useWithoutScript = () => useContext(Context)

type Props = { title: string; description?: ReactNode; menu?: boolean; children: ReactNode }

/** What a dialog holds, to be unfolded in the page itself: a browser that runs scripts reads none of this. */
export function WithoutScript({ title, description, menu = false, children }: Props) {
  return (
    <noscript>
      <Context value={true}>
        <details
          className={clsx('text-left text-sm', !menu && 'min-w-0 max-w-md rounded-md border px-3 py-2')}
        >
          <summary className="cursor-pointer font-medium">{menu ? 'Menu' : title}</summary>
          <div className={menu ? 'absolute inset-x-0 top-full border-b bg-raised p-4' : 'mt-3 space-y-3'}>
            {description && <p className="text-ink-soft">{description}</p>}
            {children}
          </div>
        </details>
      </Context>
    </noscript>
  )
}
