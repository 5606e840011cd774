import { clsx } from 'clsx'
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { ButtonLink } from './button-link.tsx'

const LOOKS = {
  info: { icon: Info, className: 'bg-water-soft text-water' },
  good: { icon: CircleCheck, className: 'bg-good-soft text-good' },
  warn: { icon: TriangleAlert, className: 'bg-warn-soft text-warn' },
  bad: { icon: CircleAlert, className: 'bg-bad-soft text-bad' },
} as const

type Props = {
  tone: keyof typeof LOOKS
  title?: ReactNode
  action?: ReactNode
  className?: string
  children?: ReactNode
}

export function Notice({ tone, title, action, className, children }: Props) {
  const { icon: Icon, className: look } = LOOKS[tone]
  return (
    <div
      className={clsx(
        'flex flex-wrap gap-x-4 gap-y-2 rounded-lg px-3.5 py-2.5 text-sm',
        children ? 'items-start' : 'items-center',
        look,
        className,
      )}
    >
      <div className="flex min-w-0 flex-1 basis-60 gap-2.5">
        <Icon className="mt-0.5 size-4 shrink-0" aria-hidden />
        <div className="min-w-0">
          {title && <p className="font-medium">{title}</p>}
          {children && <div className="text-ink-soft">{children}</div>}
        </div>
      </div>
      {action}
    </div>
  )
}

type DoneProps = { title: string; goOn: string; children: ReactNode }

/** Replaces a form that was the last step, and links to the dashboard. */
export function Done({ title, goOn, children }: DoneProps) {
  const action = (
    <ButtonLink href="/dashboard" tone="primary">
      {goOn}
    </ButtonLink>
  )
  return (
    <Notice tone="good" title={title} action={action}>
      {children}
    </Notice>
  )
}
