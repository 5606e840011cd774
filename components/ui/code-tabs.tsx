'use client'

import { clsx } from 'clsx'
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'

type Props = { label: string; tabs: { name: string; panel: ReactNode }[] }

/** The same content in several languages. Panels are rendered on the server. */
export function CodeTabs({ label, tabs }: Props) {
  const [open, setOpen] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)

  function move(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const next = (open + step + tabs.length) % tabs.length
    setOpen(next)
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus()
  }

  return (
    <div className="overflow-hidden rounded-lg border border-line bg-sunken">
      <div
        ref={list}
        role="tablist"
        aria-label={label}
        onKeyDown={move}
        className="flex gap-0.5 overflow-x-auto border-b px-1.5 [scrollbar-width:none]"
      >
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-tab-${index}`}
            aria-selected={index === open}
            aria-controls={`${id}-panel-${index}`}
            tabIndex={index === open ? 0 : -1}
            onClick={() => setOpen(index)}
            className={clsx(
              'relative h-9 shrink-0 px-2.5 font-medium text-xs -outline-offset-4',
              index === open
                ? 'text-ink after:absolute after:inset-x-2.5 after:bottom-0 after:h-0.5 after:bg-water'
                : 'text-ink-faint hover:text-ink',
            )}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ name, panel }, index) => (
        <div
          key={name}
          role="tabpanel"
          id={`${id}-panel-${index}`}
          aria-labelledby={`${id}-tab-${index}`}
          hidden={index !== open}
        >
          {panel}
        </div>
      ))}
    </div>
  )
}
