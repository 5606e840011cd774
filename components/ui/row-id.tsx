import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'

type Props = { id: string; what: string; children: ReactNode }

/** The name that a row goes by, and its id to copy: once it is pointed at, or where nothing points. */
export function RowId({ id, what, children }: Props) {
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
