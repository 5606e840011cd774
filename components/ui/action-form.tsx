'use client'

import { clsx } from 'clsx'
import {
  type FormEvent,
  type ReactNode,
  useActionState,
  useEffect,
  useRef,
  useState,
  useTransition,
} from 'react'
import type { Right } from '#lib/identity/rights.ts'
import { Button } from './button.tsx'
import { FieldErrors, FormError } from './field.tsx'
import type { FormAction, FormState } from './form-state.ts'
import { Notice } from './notice.tsx'
import { useMay } from './rights.tsx'
import { notify } from './toaster.tsx'
import { useWithoutScript } from './without-script.tsx'

export type ActionFormProps<Data> = {
  /** A plain server action or one bound with `bind`: React supports nothing else in browsers without JavaScript. */
  action: FormAction<Data>
  onDone?: (data: Data) => void
  /** Replaces the completed form, with or without JavaScript. */
  instead?: (data: Data) => ReactNode
  /** The message shown without JavaScript, where `onDone` is never called. */
  outcome?: (data: Data) => ReactNode
  submit?: ReactNode
  /** What the button acts on, for screen readers. */
  about?: string
  /** The icon before the button's label. While the action runs, a spinner replaces it. */
  icon?: ReactNode
  submitTone?: 'primary' | 'plain' | 'danger'
  submitSize?: 'sm' | 'md'
  aside?: ReactNode
  /** The width the fields need on a wide page. */
  width?: 'sm' | 'md'
  /** Puts the button next to the fields instead of below them. */
  className?: string
  disabled?: boolean
  /** Users without this right see the fields read-only, without a button. */
  right?: Right
  resetOnDone?: boolean
  children?: ReactNode
}

const WIDTHS = { sm: 'max-w-sm', md: 'max-w-md' }
const IDLE = { status: 'idle' } as const
const NO_ERRORS = {}

/**
 * A form with a server action. Input is preserved, each error appears next to its field, and the first field with an
 * error gets the focus. Without JavaScript, or before it loads, the browser posts the form, and the resulting page contains
 * the response.
 */
export function ActionForm<Data = undefined>(props: ActionFormProps<Data>) {
  const { action, onDone, submit, submitTone = 'primary', aside, disabled, resetOnDone } = props
  const className = props.className ?? clsx('flex flex-col gap-4', props.width && WIDTHS[props.width])
  const [posted, post] = useActionState(action, IDLE as Awaited<FormState<Data>>)
  const [state, setState] = useState<FormState<Data>>(posted)
  const [busy, start] = useTransition()
  const form = useRef<HTMLFormElement>(null)
  const allowed = useMay()(props.right)
  const withoutScript = useWithoutScript()

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
      const answer = await action(IDLE, data)
      setState(answer)
      if (answer.status !== 'done') return
      if (answer.message) notify.done(answer.message)
      if (resetOnDone) form.current?.reset()
      onDone?.(answer.data as Data)
    })
  }

  if (state.status === 'done' && props.instead) return props.instead(state.data as Data)
  if (!allowed) return <ReadOnly className={className}>{props.children}</ReadOnly>
  const error = state.status === 'error' ? state : undefined
  const unseen = state === posted && state.status === 'done' ? state : undefined
  return (
    <FieldErrors value={error?.fields ?? NO_ERRORS}>
      <form ref={form} action={post} onSubmit={send} noValidate className={className}>
        {props.children}
        {unseen && (
          <div data-form-done className="empty:hidden">
            {unseen.message && <Notice tone="good">{unseen.message}</Notice>}
            {props.outcome?.(unseen.data as Data)}
          </div>
        )}
        {error && <FormError message={error.message} />}
        {submit && (
          <div className="flex items-center gap-3">
            <Button
              type="submit"
              tone={submitTone}
              size={props.submitSize}
              busy={busy}
              disabled={disabled && !withoutScript}
            >
              {!busy && props.icon}
              {submit}
              {props.about !== undefined && <span className="sr-only">{props.about}</span>}
            </Button>
            {aside}
          </div>
        )}
      </form>
    </FieldErrors>
  )
}

function ReadOnly({ className, children }: { className: string; children: ReactNode }) {
  if (!children) return null
  return (
    <fieldset disabled className={className}>
      {children}
      <p className="text-ink-faint text-sm">Your role lets you see this, but not change it.</p>
    </fieldset>
  )
}
