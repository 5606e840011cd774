import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { medianOf, STEPS, stepOf } from './fold-tallies.ts'

const countsOf = (times: number[]) => {
  const counts = Array.from({ length: STEPS }, () => 0)
  for (const ms of times) counts[stepOf(ms)]! += 1
  return counts
}

describe('the median of counted durations', () => {
  it('is undefined for no durations', () => {
    expect(medianOf(countsOf([]))).toBeUndefined()
  })

  it('is accurate to within half, for any durations', () => {
    const duration = fc.integer({ min: 10, max: 30 * 86_400_000 })
    fc.assert(
      fc.property(fc.array(duration, { minLength: 1, maxLength: 99 }), (times) => {
        const low = times.toSorted((a, b) => a - b)[(times.length - 1) >> 1]!
        const high = times.toSorted((a, b) => a - b)[times.length >> 1]!
        const median = medianOf(countsOf(times))!
        expect(median).toBeGreaterThanOrEqual(low / 1.51)
        expect(median).toBeLessThanOrEqual(high * 1.51)
      }),
    )
  })

  it('is accurate to within a fifth if many durations are similar', () => {
    const times = Array.from({ length: 1000 }, (_, n) => 700 + n)
    expect(Math.abs(medianOf(countsOf(times))! - 1200)).toBeLessThan(1200 / 5)
  })

  it('includes durations below the smallest step or above a month', () => {
    expect(stepOf(0)).toBe(0)
    expect(stepOf(1e12)).toBe(STEPS - 1)
  })
})
