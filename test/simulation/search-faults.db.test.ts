import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Results } from './search-faults.ts'

it('continues where the last search for a fault stopped, unless the planted fault has changed', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'simulated-faults-')), 'results.json')
  const fault = { name: 'a fault', withinSeeds: 500, edits: [{ find: 'one', replace: 'other' }] }
  new Results(path).keep(fault, { searched: 120 })
  const later = new Results(path)
  expect(later.of({ ...fault, name: 'renamed', withinSeeds: 1000 })).toEqual({ searched: 120 })
  expect(later.of({ ...fault, edits: [{ find: 'one', replace: 'another' }] })).toEqual({ searched: 0 })
})
