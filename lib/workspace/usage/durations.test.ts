import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { medianOf, STEPS, stepOf } from './fold-tallies.ts'

const countsOf = (times: number[]) => {
  const counts = Array.from({ length: STEPS }, () => 0)
  for (const ms of times) counts[stepOf(ms)]! += 1
  return counts
}

describe('the median of counted durations', () => {
  it('is undefined of nothing', () => {
    expect(medianOf(countsOf([]))).toBeUndefined()
  })

  it('is within half of the truth, whatever took how long', () => {
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

  it('is within a fifth of it where many took about as long', () => {
    const times = Array.from({ length: 1000 }, (_, n) => 700 + n)
    expect(Math.abs(medianOf(countsOf(times))! - 1200)).toBeLessThan(1200 / 5)
  })

  it('counts what took less than anything or more than a month', () => {
    expect(stepOf(0)).toBe(0)
    expect(stepOf(1e12)).toBe(STEPS - 1)
  })
})
