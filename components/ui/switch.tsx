'use client'

import { clsx } from 'clsx'
import { type ReactNode, useId, useOptimistic, useTransition } from 'react'
import type { FormState } from '#app/actions/form-state.ts'
import { notify } from './toaster.tsx'

type Props = {
  on: boolean
  label: ReactNode
  hint?: ReactNode
  /** Runs at once; the switch shows the new side while it does and goes back if it fails. */
  action: (on: boolean) => Promise<FormState<unknown>>
}

export function ActionSwitch({ on, label, hint, action }: Props) {
  const id = useId()
  const [shown, show] = useOptimistic(on)
  const [busy, start] = useTransition()

  function flip() {
    start(async () => {
      show(!shown)
      const answer = await action(!shown)
      if (answer.status === 'error') notify.failed(answer.message)
      if (answer.status === 'done' && answer.message) notify.done(answer.message)
    })
  }

  return (
    <div className="flex items-start justify-between gap-4">
      <div className="min-w-0">
        <span id={`${id}-label`} className="font-medium text-sm">
          {label}
        </span>
        {hint && (
          <p id={`${id}-hint`} className="mt-0.5 text-ink-faint text-sm">
            {hint}
          </p>
        )}
      </div>
      <button
        type="button"
        role="switch"
        aria-checked={shown}
        aria-labelledby={`${id}-label`}
        aria-describedby={hint ? `${id}-hint` : undefined}
        aria-busy={busy || undefined}
        onClick={flip}
        className={clsx(
          'relative mt-0.5 h-5 w-9 shrink-0 rounded-full border transition-colors',
          shown ? 'border-transparent bg-water' : 'border-line-strong bg-hover',
        )}
      >
        <span
          className={clsx(
            'absolute top-0.5 left-0.5 size-3.5 rounded-full shadow-raised transition-transform',
            shown ? 'translate-x-4 bg-on-water' : 'bg-ink-faint',
          )}
        />
      </button>
    </div>
  )
}
