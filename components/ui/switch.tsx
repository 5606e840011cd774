'use client'

import { clsx } from 'clsx'
import { type FormEvent, type ReactNode, useActionState, useId, useOptimistic, useTransition } from 'react'
import type { Right } from '#lib/identity/rights.ts'
import { type FormAction, textOfError } from './form-state.ts'
import { useMay } from './rights.tsx'
import { notify } from './toaster.tsx'

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

const IDLE = { status: 'idle' } as const
const sideOf = (on: boolean) => (on ? 'on' : 'off')

export function ActionSwitch({ on, label, hint, action, right }: Props) {
  const id = useId()
  const allowed = useMay()(right)
  const [shown, show] = useOptimistic(on)
  const [busy, start] = useTransition()

  const [posted, post] = useActionState(action, IDLE)

  function flip(event: FormEvent) {
    event.preventDefault()
    start(async () => {
      show(!shown)
      const data = new FormData()
      data.set('on', sideOf(!shown))
      const answer = await action(IDLE, data)
      if (answer.status === 'error') notify.failed(textOfError(answer))
      if (answer.status === 'done' && answer.message) notify.done(answer.message)
    })
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
        {posted.status === 'error' && <p className="mt-0.5 text-bad text-sm">{textOfError(posted)}</p>}
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
