'use client'

import dynamic from 'next/dynamic'
import { useEffect, useState } from 'react'
import { OPEN_PALETTE } from './palette-button.tsx'

/** The list itself comes with the first ⌘K, not with the page. */
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
