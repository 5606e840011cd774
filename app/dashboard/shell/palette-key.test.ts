import { expect, it } from 'vitest'
import { paletteKey } from './palette-key.tsx'

it.each([
  ['Linux x86_64', 'Ctrl K'],
  ['Win32', 'Ctrl K'],
  ['MacIntel', '⌘K'],
  ['iPhone', '⌘K'],
])('names the key that opens the palette on %s', (platform, key) => {
  expect(paletteKey(platform)).toBe(key)
})
