import { expect, it } from 'vitest'
import { wantedIn } from './texts.ts'

it.each([
  ['de-AT,de;q=0.9,en;q=0.8', ['de-AT', 'de', 'en']],
  ['en;q=0.5, fr ; q=0.9,ja', ['ja', 'fr', 'en']],
  ['en;q=0, es', ['es']],
  ['*;q=nonsense', []],
])('reads the languages in %j, the most wanted first', (header, wanted) => {
  expect(wantedIn(header)).toEqual(wanted)
})
