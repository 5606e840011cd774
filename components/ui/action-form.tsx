'use client'

import { CircleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useRef, useState, useTransition } from 'react'
import type { FormState } from '#app/actions/form-state.ts'
import { Button } from './button.tsx'
import { FieldErrors } from './field.tsx'
import { notify } from './toaster.tsx'

type Props<Data> = {
  action: (data: FormData) => Promise<FormState<Data>>
  onDone?: (data: Data) => void
  submit?: ReactNode
  submitTone?: 'primary' | 'plain' | 'danger'
  aside?: ReactNode
  /** Put beside the button instead of under the fields. */
  className?: string
  disabled?: boolean
  resetOnDone?: boolean
  children?: ReactNode
}

/**
 * A form on a server action: what was typed stays, each error stands at its field, and the first of them
 * takes the focus.
 */
export function ActionForm<Data = undefined>(props: Props<Data>) {
  const { action, onDone, submit, submitTone = 'primary', aside, className, disabled, resetOnDone } = props
  const [state, setState] = useState<FormState<Data>>({ status: 'idle' })
  const [busy, start] = useTransition()
  const form = useRef<HTMLFormElement>(null)

  useEffect(() => {
    if (state.status !== 'error') return
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    const target = wrong ?? form.current?.querySelector<HTMLElement>('[data-form-error]')
    target?.focus()
  }, [state])

  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const data = new FormData(event.currentTarget, (event.nativeEvent as SubmitEvent).submitter)
    start(async () => {
      const answer = await action(data)
      setState(answer)
      if (answer.status !== 'done') return
      if (answer.message) notify.done(answer.message)
      if (resetOnDone) form.current?.reset()
      onDone?.(answer.data as Data)
    })
  }

  const error = state.status === 'error' ? state : undefined
  return (
    <FieldErrors value={error?.fields ?? {}}>
      <form ref={form} onSubmit={send} noValidate className={className ?? 'flex flex-col gap-4'}>
        {props.children}
        {error?.message && (
          <p
            data-form-error
            tabIndex={-1}
            role="alert"
            className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad text-sm outline-none"
          >
            <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
            <span>{error.message}</span>
          </p>
        )}
        {submit && (
          <div className="flex items-center gap-3">
            <Button type="submit" tone={submitTone} busy={busy} disabled={disabled}>
              {submit}
            </Button>
            {aside}
          </div>
        )}
      </form>
    </FieldErrors>
  )
}
