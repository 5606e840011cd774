import { expect, it } from 'vitest'
import { shrinkModule } from './shrink-module.ts'

it('removes comments and indentation, and keeps names, licenses and short lines', () => {
  const source = `/*! License: MIT */
    // Explains what follows.
    export function add(first, second) {
      return first + second // …
    }
    ${'add(1, 2);\n'.repeat(100)}`
  const shrunk = shrinkModule(source)
  expect(shrunk).toContain('/*! License: MIT */')
  expect(shrunk).toContain('export function add(first,second){return first+second}')
  expect(shrunk).not.toContain('Explains')
  for (const line of shrunk.split('\n')) expect(line.length).toBeLessThan(200)
})

it('writes text in ASCII, without changing what the module does', async () => {
  const shrunk = shrinkModule("export const text = 'a → b…'\nexport const matches = /[→…]/u.test('…')\n")
  expect(shrunk).toContain('"a \\u2192 b\\u2026"')
  expect(await import(`data:text/javascript,${encodeURIComponent(shrunk)}`)).toMatchObject({
    text: 'a → b…',
    matches: true,
  })
})
