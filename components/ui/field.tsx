'use client'

import { clsx } from 'clsx'
import { CircleAlert } from 'lucide-react'
import { type ComponentProps, createContext, type ReactNode, useContext, useId } from 'react'

/** The form action's last errors by field. */
export const FieldErrors = createContext<Record<string, string>>({})

/** The first error of the field or of an entry in its value, such as `allowedTypes.0` or `headers.Accept`. */
function useFieldError(field: string): string | undefined {
  const errors = Object.entries(useContext(FieldErrors))
  const [name, text] = errors.find(([name]) => name === field || name.startsWith(`${field}.`)) ?? []
  const entry = name?.slice(field.length + 1).split('.', 1)[0]
  if (!entry) return text
  return /^\d+$/.test(entry) ? `Entry ${Number(entry) + 1}: ${text}` : `${entry}: ${text}`
}

/** For what only programs read, such as keys and addresses. */
const MACHINE = { spellCheck: false, autoComplete: 'off', autoCapitalize: 'none' }

const box =
  'w-full rounded-md border bg-raised text-ink shadow-raised placeholder:text-ink-faint/80 disabled:opacity-60 disabled:bg-sunken focus:outline-2 focus:outline-(--focus) focus:outline-offset-0'

type Extra = { label: ReactNode; hint?: ReactNode; optional?: boolean; className?: string }

/** Label, control, hint and error, linked for screen readers. */
function useField(name: string, hint: unknown) {
  const id = useId()
  const error = useFieldError(name)
  const describedBy = clsx(Boolean(hint) && `${id}-hint`, error && `${id}-error`) || undefined
  const props = { id, name, 'aria-describedby': describedBy, 'aria-invalid': error ? true : undefined }
  return { id, error, props, edge: error ? 'border-bad' : 'border-line-strong' }
}

type FrameProps = Extra & { id: string; error?: string | undefined; children: ReactNode }

function Frame({ id, label, hint, optional, error, className, children }: FrameProps) {
  return (
    <div className={clsx('flex flex-col gap-1.5', className)}>
      <label htmlFor={id} className="flex items-baseline gap-2 font-medium text-sm">
        {label}
        {optional && <span className="font-normal text-ink-faint text-xs">optional</span>}
      </label>
      {children}
      {hint && (
        <p id={`${id}-hint`} className="text-ink-faint text-xs">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="flex gap-1.5 text-bad text-xs">
          <CircleAlert className="mt-px size-3.5 shrink-0" aria-hidden />
          {error}
        </p>
      )}
    </div>
  )
}

type TextFieldProps = Omit<ComponentProps<'input'>, 'id'> &
  Extra & { name: string; after?: ReactNode; mono?: boolean }

export function TextField({ label, hint, optional, className, after, mono, name, ...rest }: TextFieldProps) {
  const { id, error, props, edge } = useField(name, hint)
  return (
    <Frame {...{ id, label, hint, optional, error, className }}>
      <div className="flex gap-2">
        <input
          {...props}
          {...(mono && MACHINE)}
          {...rest}
          className={clsx(box, edge, 'h-8 min-w-0 px-2.5 text-sm file:h-full', mono && 'font-mono text-xs')}
        />
        {after}
      </div>
    </Frame>
  )
}

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'id'> & Extra & { name: string; mono?: boolean }

export function TextArea({ label, hint, optional, className, mono, name, ...rest }: TextAreaProps) {
  const { id, error, props, edge } = useField(name, hint)
  return (
    <Frame {...{ id, label, hint, optional, error, className }}>
      <textarea
        {...props}
        {...(mono && MACHINE)}
        {...rest}
        className={clsx(box, edge, 'min-h-20 px-2.5 py-1.5 text-sm', mono && 'font-mono text-xs')}
      />
    </Frame>
  )
}

/** Asks signed-in users for their password again, for actions that a session alone must not allow. */
export function PasswordField(props: Partial<TextFieldProps>) {
  return (
    <TextField
      name="password"
      label="Your password"
      type="password"
      autoComplete="current-password"
      {...props}
    />
  )
}

/** The email address that users sign in with. */
export function EmailField(props: Partial<TextFieldProps>) {
  return <TextField name="email" label="Email" type="email" autoComplete="username" {...props} />
}

export function NewPasswordField(props: Partial<TextFieldProps>) {
  return (
    <PasswordField
      label="New password"
      autoComplete="new-password"
      hint="At least 10 characters."
      {...props}
    />
  )
}

/** For irreversible actions: the user must type the text to confirm. */
export function TypeToConfirm({ text, ...rest }: Omit<TextFieldProps, 'label'> & { text: string }) {
  const label = (
    <span>
      Type <strong className="font-semibold">{text}</strong> to confirm
    </span>
  )
  return <TextField label={label} autoComplete="off" spellCheck={false} {...rest} />
}

type SelectFieldProps = Omit<ComponentProps<'select'>, 'id' | 'children'> &
  Extra & { name: string; options: readonly (readonly [value: string, label: string])[] }

export function SelectField({ label, hint, optional, className, name, options, ...rest }: SelectFieldProps) {
  const { id, error, props, edge } = useField(name, hint)
  return (
    <Frame {...{ id, label, hint, optional, error, className }}>
      <select {...props} {...rest} className={clsx(box, edge, 'select-arrow h-8 px-2.5 pr-8 text-sm')}>
        {options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </Frame>
  )
}

type CheckFieldProps = Omit<ComponentProps<'input'>, 'id' | 'type'> & Extra & { name: string }

export function CheckField({ label, hint, className, name, ...rest }: CheckFieldProps) {
  const id = useId()
  return (
    <div className={clsx('flex gap-2.5', className)}>
      <input
        id={id}
        type="checkbox"
        name={name}
        aria-describedby={hint ? `${id}-hint` : undefined}
        {...rest}
        className="mt-0.5 size-4 shrink-0 accent-(--water)"
      />
      <div>
        <label htmlFor={id} className="text-sm">
          {label}
        </label>
        {hint && (
          <p id={`${id}-hint`} className="text-ink-faint text-xs">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}

type CheckListProps = {
  name: string
  legend: string
  options: readonly (readonly [value: string, label: ReactNode])[]
  chosen: readonly string[] | null | undefined
  hint?: string
  disabled?: boolean
  className?: string
  /** What comes before the options. */
  children?: ReactNode
}

/** A list of which several can be chosen. */
export function CheckList(props: CheckListProps) {
  const { name, legend, options, chosen, hint, disabled, className = 'space-y-2', children } = props
  return (
    <fieldset className="min-w-0">
      <legend className="mb-2 font-medium text-sm">{legend}</legend>
      <div className={className}>
        {children}
        {options.map(([value, label]) => (
          <CheckField
            key={value}
            name={name}
            value={value}
            label={label}
            defaultChecked={chosen?.includes(value)}
            disabled={disabled}
          />
        ))}
      </div>
      {hint && <p className="mt-2 text-ink-faint text-xs">{hint}</p>}
    </fieldset>
  )
}
