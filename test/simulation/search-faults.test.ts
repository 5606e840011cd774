import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/sluice.ts'
import { Results } from './search-faults.ts'

it('continues where the last search for a fault stopped, unless the planted fault has changed', () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'results.json')
  const fault = { name: 'a fault', withinSeeds: 500, edits: [{ find: 'one', replace: 'other' }] }
  new Results(path).keep(fault, { searched: 120 })
  const later = new Results(path)
  expect(later.of({ ...fault, name: 'renamed', withinSeeds: 1000 })).toEqual({ searched: 120 })
  expect(later.of({ ...fault, edits: [{ find: 'one', replace: 'another' }] })).toEqual({ searched: 0 })
})
