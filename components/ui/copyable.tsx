import { clsx } from 'clsx'
import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'

type Props = { text: string; what: string; className?: string }

/** A monospaced value, shown in full, with a copy button. */
export function Copyable({ text, what, className }: Props) {
  return (
    <span
      className={clsx(
        'flex min-w-0 items-center gap-1 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-2.5',
        className,
      )}
    >
      <code className="min-w-0 flex-1 break-all py-1 font-mono text-xs">{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  )
}

/** An id within other text, with a copy button. */
export function CopyableId({ id, what }: { id: string; what: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1 align-middle">
      <code className="min-w-0 break-all font-mono text-xs">{id}</code>
      <CopyButton text={id} what={what} />
    </span>
  )
}

type RowIdProps = { id: string; what: string; children: ReactNode }

/** A row's name, and a button that copies its id: shown on hover, or always on touch screens. */
export function RowId({ id, what, children }: RowIdProps) {
  return (
    <span className="flex min-w-0 items-center gap-1">
      <span className="min-w-0 truncate">{children}</span>
      <CopyButton
        text={id}
        what={what}
        className="relative z-10 focus-visible:opacity-100 group-hover/row:opacity-100 [@media(hover:hover)]:opacity-0"
      />
    </span>
  )
}
