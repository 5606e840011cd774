'use client'

import { clsx } from 'clsx'
import { type FormEvent, type ReactNode, useId, useOptimistic } from 'react'
import type { Right } from '#lib/identity/rights.ts'
import type { FormAction } from './form-state.ts'
import { useMay } from './rights.tsx'
import { notify } from './toaster.tsx'
import { useAction } from './use-action.ts'

type Props = {
  on: boolean
  label: ReactNode
  hint?: ReactNode
  /**
   * Receives a form field `on` with the value `on` or `off`. Without JavaScript, the browser posts the form. The switch
   * shows the new state immediately, and reverts if the action fails.
   */
  action: FormAction
  right: Right
}

const sideOf = (on: boolean) => (on ? 'on' : 'off')

export function ActionSwitch({ on, label, hint, action, right }: Props) {
  const id = useId()
  const allowed = useMay()(right)
  const [shown, show] = useOptimistic(on)
  const { answer, wasPosted, busy, post, send } = useAction(action, (answer) => {
    if (answer.status === 'error') notify.failed(answer.message)
  })

  function flip(event: FormEvent) {
    event.preventDefault()
    const data = new FormData()
    data.set('on', sideOf(!shown))
    send(data, () => show(!shown))
  }

  return (
    <form action={post} onSubmit={flip} className="flex items-start justify-between gap-4">
      <input type="hidden" name="on" value={sideOf(!on)} />
      <div className="min-w-0">
        <span id={`${id}-label`} className="font-medium text-sm">
          {label}
        </span>
        {hint && (
          <p id={`${id}-hint`} className="mt-0.5 text-ink-faint text-sm">
            {hint}
          </p>
        )}
        {wasPosted && answer.status === 'error' && (
          <p className="mt-0.5 text-bad text-sm">{answer.message}</p>
        )}
      </div>
      <button
        type="submit"
        role="switch"
        aria-checked={shown}
        aria-labelledby={`${id}-label`}
        aria-describedby={hint ? `${id}-hint` : undefined}
        aria-busy={busy || undefined}
        disabled={!allowed}
        className={clsx(
          'relative mt-0.5 h-5 w-9 shrink-0 rounded-full border transition-colors disabled:cursor-not-allowed disabled:opacity-55',
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
    </form>
  )
}
