import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { FOLDER, PUBLISHED_SCHEMAS } from './published-schemas.ts'

it.each(PUBLISHED_SCHEMAS)('publishes the current schema in $file', ({ file, text }) => {
  expect(readFileSync(`${FOLDER}/${file}`, 'utf8')).toBe(text)
})

it('publishes no other schemas', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(PUBLISHED_SCHEMAS.map(({ file }) => file).sort())
})
