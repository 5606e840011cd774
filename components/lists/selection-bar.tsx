'use client'

import type { ReactNode } from 'react'
import { formatCount } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { useSelection } from './selection.tsx'

/** What can be done with the ticked rows; it stays in sight while the list scrolls. */
export function SelectionBar({ children }: { children: (chosen: string[], clear: () => void) => ReactNode }) {
  const { chosen, choose } = useSelection()
  if (chosen.length === 0) return <div role="status" />
  const clear = () => choose(chosen, false)
  return (
    <section
      aria-label="Selection"
      className="sticky bottom-4 z-20 mt-3 flex flex-wrap items-center gap-2 rounded-lg border border-water-line bg-raised px-3.5 py-2 shadow-float"
    >
      <p role="status" className="mr-auto font-medium text-sm">
        {formatCount(chosen.length)} selected
      </p>
      {children(chosen, clear)}
      <Button tone="quiet" onClick={clear}>
        Clear
      </Button>
    </section>
  )
}
