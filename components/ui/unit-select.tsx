import type { ReactNode } from 'react'

type Props = { name: string; label: string; defaultValue: string; children: ReactNode }

export function UnitSelect({ name, label, defaultValue, children }: Props) {
  return (
    <select
      name={name}
      aria-label={label}
      defaultValue={defaultValue}
      className="select-arrow h-8 shrink-0 rounded-md border border-line-strong bg-raised pr-7 pl-2.5 text-sm shadow-raised"
    >
      {children}
    </select>
  )
}
