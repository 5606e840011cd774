import fc from 'fast-check'
import { expect, it } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.parse('2026-03-04T12:00:00Z')

it.each([
  [undefined, 0],
  ['', 0],
  ['soon', 0],
  ['-5', 0],
  ['0', 0],
  ['7', 7000],
  [' 7 ', 7000],
  ['3601', 3_600_000],
  ['Wed, 04 Mar 2026 12:00:09 GMT', 9000],
  ['Wed, 04 Mar 2026 11:00:00 GMT', 0],
])('%j is a wait of %i ms', (header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms)
})

it('waits from nothing to an hour, whatever a receiver says', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.bigInt().map(String), fc.date().map(String)), (header) => {
      const ms = retryAfterMs(header, NOW)
      expect(ms >= 0 && ms <= 3_600_000).toBe(true)
    }),
    { numRuns: 500 },
  )
})
