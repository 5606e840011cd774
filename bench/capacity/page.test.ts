import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DOCS, readFigures } from './figures.ts'
import { drawPage } from './page.ts'

it('docs/capacity.md is what follows from the figures of today, else `npm run bench -- capacity` writes it', () => {
  expect(readFileSync(new URL('capacity.md', DOCS), 'utf8')).toBe(drawPage(readFigures()))
})
