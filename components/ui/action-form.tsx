'use client'

import { clsx } from 'clsx'
import { CircleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import type { Right } from '#lib/identity/rights.ts'
import { Button, type Look } from './button.tsx'
import { FieldErrors } from './field.tsx'
import type { FormAction } from './form-state.ts'
import { Notice } from './notice.tsx'
import { useMay } from './rights.tsx'
import { useAction } from './use-action.ts'
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
  /** Primary for a form with fields, otherwise plain. */
  submitTone?: Look['tone']
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
const NO_ERRORS = {}

/**
 * A form with a server action. Input is preserved, each error appears next to its field, and the first field with an
 * error gets the focus. Without JavaScript, or before it loads, the browser posts the form, and the resulting page contains
 * the response.
 */
export function ActionForm<Data = undefined>(props: ActionFormProps<Data>) {
  const {
    action,
    onDone,
    submit,
    submitTone = props.children ? 'primary' : 'plain',
    aside,
    disabled,
    resetOnDone,
  } = props
  const className = props.className ?? clsx('flex flex-col gap-4', props.width && WIDTHS[props.width])
  const form = useRef<HTMLFormElement>(null)
  const allowed = useMay()(props.right)
  const withoutScript = useWithoutScript()
  const { answer, wasPosted, busy, post, send } = useAction(action, (answer) => {
    if (answer.status !== 'done') return
    if (resetOnDone) form.current?.reset()
    onDone?.(answer.data as Data)
  })

  useEffect(() => {
    if (answer.status !== 'error') return
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    const target = wrong ?? form.current?.querySelector<HTMLElement>('[data-form-error]')
    target?.focus()
  }, [answer])

  function submitted(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    send(new FormData(event.currentTarget, (event.nativeEvent as SubmitEvent).submitter))
  }

  if (answer.status === 'done' && props.instead) return props.instead(answer.data as Data)
  if (!allowed) return <ReadOnly className={className}>{props.children}</ReadOnly>
  const error = answer.status === 'error' ? answer : undefined
  const unseen = wasPosted && answer.status === 'done' ? answer : undefined
  return (
    <FieldErrors value={error?.fields ?? NO_ERRORS}>
      <form ref={form} action={post} onSubmit={submitted} noValidate className={className}>
        {props.children}
        {unseen && (
          <div data-form-done className="empty:hidden">
            {unseen.message && <Notice tone="good">{unseen.message}</Notice>}
            {props.outcome?.(unseen.data as Data)}
          </div>
        )}
        {error?.message && <FormError message={error.message} />}
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

function FormError({ message }: { message: string }) {
  return (
    <p
      data-form-error
      tabIndex={-1}
      role="alert"
      className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad text-sm outline-none"
    >
      <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <span>{message}</span>
    </p>
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
