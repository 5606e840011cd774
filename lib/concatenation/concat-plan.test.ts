import fc from 'fast-check'
import { expect, it } from 'vitest'
import { concatPlan, type Stretch } from './concat-plan.ts'

const MiB = 1024 * 1024
const stretches = (sizes: number[]): Stretch[][] =>
  concatPlan(sizes).map((step) => ('copy' in step ? [step.copy] : step.join))

it('copies large ranges, and joins small ranges with the bytes that follow', () => {
  expect(concatPlan([8 * MiB, 9 * MiB])).toEqual([
    { copy: { source: 0, first: 0, bytes: 8 * MiB } },
    { copy: { source: 1, first: 0, bytes: 9 * MiB } },
  ])
  expect(concatPlan([MiB, 20 * MiB])).toEqual([
    {
      join: [
        { source: 0, first: 0, bytes: MiB },
        { source: 1, first: 0, bytes: 4 * MiB },
      ],
    },
    { copy: { source: 1, first: 4 * MiB, bytes: 16 * MiB } },
  ])
  expect(concatPlan([0, 0])).toEqual([])
})

it('covers every byte once and in order, in parts that S3 accepts', () => {
  const size = fc.oneof(fc.integer({ min: 0, max: 12 * MiB }), fc.integer({ min: 0, max: 30 * 1024 * MiB }))
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 12 }), (sizes) => {
      const parts = stretches(sizes)
      const seen = parts.flat()
      let source = 0
      let at = 0
      for (const stretch of seen) {
        while (at === sizes[source]) {
          source += 1
          at = 0
        }
        expect(stretch).toMatchObject({ source, first: at })
        expect(stretch.bytes).toBeGreaterThan(0)
        at += stretch.bytes
      }
      expect(seen.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(
        sizes.reduce((sum, bytes) => sum + bytes, 0),
      )
      for (const [n, part] of parts.entries()) {
        const bytes = part.reduce((sum, stretch) => sum + stretch.bytes, 0)
        if (n < parts.length - 1) expect(bytes).toBeGreaterThanOrEqual(5 * MiB)
        expect(bytes).toBeLessThanOrEqual(5 * 1024 ** 3)
        if (part.length > 1) expect(bytes).toBeLessThan(15 * MiB)
      }
    }),
  )
})
