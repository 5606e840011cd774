import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RETRY_DELAYS_MS, retryAfterMs, retryDelayMs } from './retry-schedule.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND

it('follows the schedule in the contract', () => {
  expect(RETRY_DELAYS_MS.map((ms) => ms / SECOND)).toEqual([
    5, 30, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400,
  ])
  expect(RETRY_DELAYS_MS.map((_, n) => retryDelayMs(n + 1, 0.5))).toEqual(RETRY_DELAYS_MS)
  expect(retryDelayMs(11, 0.5)).toBeUndefined()
})

it('varies each delay by at most ten percent in either direction', () => {
  expect(retryDelayMs(1, 0)).toBe(4500)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (n, random) => {
        const off = Math.abs(retryDelayMs(n, random)! / RETRY_DELAYS_MS[n - 1]! - 1)
        expect(off).toBeLessThanOrEqual(0.1 + 1e-9)
      },
    ),
  )
})

it.each([
  [undefined, 0],
  ['', 0],
  ['120', 120 * SECOND],
  [' 7 ', 7 * SECOND],
  ['0', 0],
  ['3600', HOUR],
  ['3601', HOUR],
  ['86400', HOUR],
  ['999999999999999999999', HOUR],
  ['Thu, 05 Nov 2026 10:00:30 GMT', 30 * SECOND],
  ['Thu, 05 Nov 2026 09:00:00 GMT', 0],
  ['Fri, 06 Nov 2026 10:00:00 GMT', HOUR],
  ['-5', 0],
  ['soon', 0],
])('turns Retry-After: %s into %d ms', (header, ms) => {
  expect(retryAfterMs(header, Date.parse('2026-11-05T10:00:00Z'))).toBe(ms)
})

it('waits at most an hour, whatever the receiver requests', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.bigInt().map(String), fc.date().map(String)), (header) => {
      const ms = retryAfterMs(header, 0)
      expect(ms >= 0 && ms <= 3_600_000).toBe(true)
    }),
    { numRuns: 500 },
  )
})
