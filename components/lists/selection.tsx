'use client'

import { type ComponentProps, createContext, type ReactNode, use, useMemo, useState } from 'react'
import { formatCount } from '../format.ts'
import { Button } from '../ui/button.tsx'
import { useMay } from '../ui/rights.tsx'

type Selected = {
  ids: string[]
  /** The selected ids. */
  chosen: string[]
  choose: (ids: string[], on: boolean) => void
}

const Context = createContext<Selected>({ ids: [], chosen: [], choose: () => {} })

/**
 * Keeps track of the selected rows on a list page. Rows that disappear are deselected. Users without the right to act
 * on rows cannot select any.
 */
export function Selection({ ids, children }: { ids: string[]; children: ReactNode }) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set())
  const value = useMemo(
    () => ({
      ids,
      chosen: ids.filter((id) => ticked.has(id)),
      choose: (some: string[], on: boolean) =>
        setTicked((before) => new Set([...before].filter((id) => !some.includes(id)).concat(on ? some : []))),
    }),
    [ids, ticked],
  )
  return <Context value={value}>{children}</Context>
}

export const useSelection = () => use(Context)

function Box(props: ComponentProps<'input'>) {
  const may = useMay()
  if (!may('operate')) return null
  const look = 'relative z-10 size-4 cursor-pointer rounded-sm accent-water align-middle'
  return <input type="checkbox" className={look} {...props} />
}

export function SelectRow({ id, name }: { id: string; name: string }) {
  const { chosen, choose } = useSelection()
  return (
    <Box
      aria-label={`Select ${name}`}
      checked={chosen.includes(id)}
      onChange={(event) => choose([id], event.target.checked)}
    />
  )
}

export function SelectAll() {
  const { ids, chosen, choose } = useSelection()
  return (
    <Box
      aria-label="Select all rows on this page"
      checked={ids.length > 0 && chosen.length === ids.length}
      ref={(element) => {
        if (element) element.indeterminate = chosen.length > 0 && chosen.length < ids.length
      }}
      onChange={(event) => choose(ids, event.target.checked)}
    />
  )
}

/** Actions for the selected rows; stays visible while the list scrolls. */
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
