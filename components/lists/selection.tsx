'use client'

import { createContext, type ReactNode, use, useMemo, useState } from 'react'
import { useMay } from '../ui/rights.tsx'

type Selected = {
  ids: string[]
  /** Those of `ids` that are ticked. */
  chosen: string[]
  choose: (ids: string[], on: boolean) => void
}

const Context = createContext<Selected>({ ids: [], chosen: [], choose: () => {} })

/**
 * Rows of one page of a list, some of which are ticked. What is no longer shown is no longer ticked. Whoever may do nothing with them ticks
 * none.
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

const box = 'relative z-10 size-4 cursor-pointer rounded-sm accent-water align-middle'

export function SelectRow({ id, name }: { id: string; name: string }) {
  const { chosen, choose } = useSelection()
  const may = useMay()
  if (!may('operate')) return null
  return (
    <input
      type="checkbox"
      aria-label={`Select ${name}`}
      className={box}
      checked={chosen.includes(id)}
      onChange={(event) => choose([id], event.target.checked)}
    />
  )
}

export function SelectAll() {
  const { ids, chosen, choose } = useSelection()
  const may = useMay()
  if (!may('operate')) return null
  return (
    <input
      type="checkbox"
      aria-label="Select all of this page"
      className={box}
      checked={ids.length > 0 && chosen.length === ids.length}
      ref={(element) => {
        if (element) element.indeterminate = chosen.length > 0 && chosen.length < ids.length
      }}
      onChange={(event) => choose(ids, event.target.checked)}
    />
  )
}
