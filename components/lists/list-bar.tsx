import type { ReactNode } from 'react'

/** Between the filters and the list: what there is of it to the left, what can be done with all of it to the right. */
export function ListBar({ children }: { children: ReactNode }) {
  return <div className="mb-2 flex min-h-8 flex-wrap items-center justify-end gap-2">{children}</div>
}
