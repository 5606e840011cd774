import fc from 'fast-check'
import { expect, it } from 'vitest'
import { niceTicks } from './nice-ticks.ts'

it('returns round numbers', () => {
  expect(niceTicks(0)).toEqual([0, 1])
  expect(niceTicks(3, { whole: true })).toEqual([0, 1, 2, 3])
  expect(niceTicks(1900)).toEqual([0, 500, 1000, 1500, 2000])
  expect(niceTicks(2_300_000_000)).toEqual([0, 1e9, 2e9, 3e9])
})

it('reaches the highest value in at most four steps, and uses only integers for whole values', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 50 }), fc.boolean(), (most, whole) => {
      const ticks = niceTicks(most, { whole })
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
      expect(ticks.length).toBeLessThanOrEqual(5)
      if (whole) expect(ticks.every(Number.isInteger)).toBe(true)
    }),
  )
})
