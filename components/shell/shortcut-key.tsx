'use client'

import { useSyncExternalStore } from 'react'

export const shortcutKey = (platform: string) => (/^(Mac|iP)/.test(platform) ? '⌘K' : 'Ctrl K')

const never = () => () => {}

/** The key that opens the palette or the search. The server does not know the viewer's keyboard. */
export function ShortcutKey() {
  return useSyncExternalStore(
    never,
    () => shortcutKey(navigator.platform),
    () => shortcutKey(''),
  )
}
