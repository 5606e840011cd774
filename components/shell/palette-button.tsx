'use client'

import { Search } from 'lucide-react'
import { Button } from '../ui/button.tsx'

export const OPEN_PALETTE = 'sluice:palette'

export function PaletteButton({ look }: { look: 'field' | 'icon' }) {
  const open = () => window.dispatchEvent(new Event(OPEN_PALETTE))
  if (look === 'icon') {
    return (
      <Button tone="quiet" size="icon" className="!px-0" aria-label="Find anything" onClick={open}>
        <Search aria-hidden />
      </Button>
    )
  }
  return (
    <button
      type="button"
      onClick={open}
      aria-keyshortcuts="Meta+K Control+K"
      className="flex h-8 w-full items-center gap-2 rounded-md border bg-surface px-2.5 text-ink-faint text-sm shadow-raised hover:border-line-strong hover:text-ink-soft"
    >
      <Search className="size-3.5" aria-hidden />
      Find
      <kbd className="ml-auto rounded-sm border px-1 font-sans text-[0.6875rem]">⌘K</kbd>
    </button>
  )
}
