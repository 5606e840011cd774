import { clsx } from 'clsx'
import type { ReactNode } from 'react'

type Props = {
  title: string
  description?: ReactNode
  aside?: ReactNode
  tone?: 'plain' | 'danger'
  flush?: boolean
  id?: string
  className?: string
  children?: ReactNode
}

/** A page section. */
export function Panel({
  title,
  description,
  aside,
  tone = 'plain',
  flush = false,
  id,
  className,
  children,
}: Props) {
  return (
    <section
      id={id}
      className={clsx(
        'overflow-hidden rounded-lg border bg-surface',
        tone === 'danger' ? 'border-bad/40' : 'border-line',
        className,
      )}
    >
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 pt-3.5">
        <div className="min-w-0">
          <h2 className="font-semibold text-base">{title}</h2>
          {description && <p className="mt-0.5 max-w-prose text-ink-soft text-sm">{description}</p>}
        </div>
        {aside}
      </header>
      <div className={clsx(flush ? 'pt-3' : 'px-4 pt-3.5 pb-4 empty:pt-0')}>{children}</div>
    </section>
  )
}
