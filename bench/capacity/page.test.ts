import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DOCS, readFigures } from './figures.ts'
import { drawPage } from './page.ts'

it('docs/capacity.md matches the current figures; otherwise `npm run bench -- capacity` updates it', () => {
  expect(readFileSync(new URL('capacity.md', DOCS), 'utf8')).toBe(drawPage(readFigures()))
})
