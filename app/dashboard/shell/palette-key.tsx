'use client'

import { useSyncExternalStore } from 'react'

export const paletteKey = (platform: string) => (/^(Mac|iP)/.test(platform) ? '⌘K' : 'Ctrl K')

const never = () => () => {}

/** The key that opens the palette. The server does not know the viewer's keyboard. */
export function PaletteKey() {
  return useSyncExternalStore(
    never,
    () => paletteKey(navigator.platform),
    () => paletteKey(''),
  )
}
