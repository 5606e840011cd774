import { clsx } from 'clsx'
import type { ComponentProps, ReactNode } from 'react'

/** Dense rows; on a phone each row becomes a card whose cells name themselves by `label`. */
export function Table({
  caption,
  head,
  children,
}: {
  caption: string
  head: ReactNode
  children: ReactNode
}) {
  return (
    <div className="@container relative overflow-hidden rounded-lg border border-line bg-surface">
      <table className="stack-table w-full border-collapse text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b bg-canvas text-left text-ink-faint text-xs">{head}</tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return <th scope="col" className={clsx('h-8 whitespace-nowrap px-3 font-medium', className)} {...rest} />
}

export function Row({ className, ...rest }: ComponentProps<'tr'>) {
  return (
    <tr
      className={clsx(
        'group/row relative border-b transition-colors last:border-b-0 hover:bg-hover/60',
        className,
      )}
      {...rest}
    />
  )
}

type CellProps = ComponentProps<'td'> & {
  label?: string
  number?: boolean
  /** For text of any length: such columns share the width that the others leave, and cut what does not fit. */
  long?: boolean
}

export function Td({ className, label, number, long, children, ...rest }: CellProps) {
  return (
    <td
      data-label={label}
      className={clsx(
        'h-10 truncate px-3 align-middle',
        long ? 'w-1/3 max-w-0' : 'max-w-72',
        number && 'tnum @min-[44rem]:text-right',
        className,
      )}
      {...rest}
    >
      <span className="contents @max-[44rem]:block @max-[44rem]:min-w-0 @max-[44rem]:truncate">
        {children}
      </span>
    </td>
  )
}
