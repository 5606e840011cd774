import { expect, it } from 'vitest'
import { shortcutKey } from './shortcut-key.tsx'

it.each([
  ['Linux x86_64', 'Ctrl K'],
  ['Win32', 'Ctrl K'],
  ['MacIntel', '⌘K'],
  ['iPhone', '⌘K'],
])('names the key that opens the palette or the search on %s', (platform, key) => {
  expect(shortcutKey(platform)).toBe(key)
})
