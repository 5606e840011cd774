'use client'

import { Search } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useState } from 'react'
import { ShortcutKey } from '#components/shell/shortcut-key.tsx'
import { Button } from '#components/ui/button.tsx'

/** The dialog loads when it is first opened, not with the page. */
const PaletteDialog = dynamic(() => import('./palette-dialog.tsx').then((module) => module.PaletteDialog), {
  ssr: false,
})

export function Palette() {
  const [open, setOpen] = useState(false)
  const [wanted, setWanted] = useState(false)
  useEffect(() => {
    const show = () => {
      setWanted(true)
      setOpen(true)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return
      event.preventDefault()
      show()
    }
    window.addEventListener('keydown', onKey)
    window.addEventListener(OPEN_PALETTE, show)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener(OPEN_PALETTE, show)
    }
  }, [])
  return wanted ? <PaletteDialog open={open} onOpenChange={setOpen} /> : null
}

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
      <kbd className="ml-auto rounded-sm border px-1 font-sans text-[0.6875rem]">
        <ShortcutKey />
      </kbd>
    </button>
  )
}
